"""Evidence pooling against a small reference that follows the equations, and the released code's mistakes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gapstack.members.parts.evidence import AttnPool, EvidenceHead, masked_softmax

WIDTH, HEADS = 12, 3


@pytest.fixture(scope="module")
def head():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = EvidenceHead(WIDTH, HEADS).eval()
        for parameter in made.parameters():  # biases and norms too, so that none of them can be forgotten
            torch.nn.init.normal_(parameter, std=0.5)
    return made


def rows(seed, count=5, length=11, sources=3, most=4, longest=3):
    """Random rows with clusters of all sizes, some of them empty, and one row without any evidence."""
    chance = np.random.default_rng(seed)
    starts = chance.integers(0, length - 2, size=(count, 3))
    mentions = np.stack([starts, starts + chance.integers(1, 3, size=(count, 3))], axis=-1)
    sizes = chance.integers(0, longest + 1, size=(count, sources, most))
    sizes[:, 0, 2:], sizes[0], sizes[1, 1] = 0, 0, 0
    kept = np.arange(longest) < sizes[..., None]
    # distinct places within a mention
    places = np.argsort(chance.random((count, sources, most, length)), axis=-1)[..., :longest] * kept
    return {
        "hidden": torch.from_numpy(chance.normal(size=(count, length, WIDTH)).astype(np.float32)),
        **{"mentions": torch.from_numpy(mentions), "places": torch.from_numpy(places)},
        "kept": torch.from_numpy(kept),
    }


def reference(head, inputs):
    """Logits by equations 1 to 11, a row, a resolver, a mention and a head at a time."""
    weights = {k: v.detach().double().numpy() for k, v in head.state_dict().items()}

    def linear(name, vector):
        return weights[f"{name}.weight"] @ vector + weights[f"{name}.bias"]

    def softmax(scores):
        powers = np.exp(np.array(scores) - max(scores))
        return powers / powers.sum()

    def attn_pool(name, vectors):
        shares = softmax([np.tanh(linear(f"{name}.score", vector))[0] for vector in vectors])
        return sum(share * vector for share, vector in zip(shares, vectors, strict=True))

    def query_layer(name, query, mentions):
        size = WIDTH // HEADS
        gathered = []
        for part in (slice(h * size, (h + 1) * size) for h in range(HEADS)):
            asked = linear(f"{name}.query", query)[part]
            scores = [asked @ linear(f"{name}.key", m)[part] / np.sqrt(size) for m in mentions]
            values = [linear(f"{name}.value", m)[part] for m in mentions]
            gathered.append(sum(w * v for w, v in zip(softmax(scores), values, strict=True)))
        updated = []
        for mention in mentions:
            total = mention + linear(f"{name}.out", np.concatenate(gathered))
            normal = (total - total.mean()) / np.sqrt(total.var() + 1e-5)
            normal = normal * weights[f"{name}.norm.weight"] + weights[f"{name}.norm.bias"]
            updated.append(np.tanh(linear(f"{name}.feed", normal)))
        return updated

    logits = []
    arrays = {k: v.numpy().astype(float if k == "hidden" else v.numpy().dtype) for k, v in inputs.items()}
    for hidden, mentions, places, kept in zip(*(arrays[k] for k in inputs), strict=True):
        pronoun, a, b = (attn_pool("evidence.of_pieces", list(hidden[s:e])) for s, e in mentions)
        resolvers = []
        for of_source, kept_of_source in zip(places, kept, strict=True):
            cluster = [
                attn_pool("evidence.of_pieces", [hidden[place] for place in mention[keep]])
                for mention, keep in zip(of_source, kept_of_source, strict=True)
                if keep.any()
            ]
            if cluster:
                cluster = query_layer("evidence.about_pronoun", pronoun, cluster)
                cluster = query_layer("evidence.about_name", a, cluster)
                cluster = query_layer("evidence.about_name", b, cluster)
                resolvers.append(attn_pool("evidence.of_mentions", cluster))
        evidence = attn_pool("evidence.of_resolvers", resolvers) if resolvers else np.zeros(WIDTH)
        first = np.tanh(linear("dense", hidden[mentions[0, 0]]))
        logits.append(linear("classifier", np.concatenate([first, evidence])))
    return np.array(logits)


@pytest.mark.parametrize("seed", range(5))
def test_the_logits_are_those_of_the_equations(seed, head):
    inputs = rows(seed)
    np.testing.assert_allclose(head(**inputs).detach(), reference(head, inputs), rtol=0, atol=1e-5)


def test_what_is_not_kept_changes_nothing(head):
    inputs = rows(1)
    expected = head(**inputs)
    # more columns of padding on every axis, with places that point at anything
    chance = torch.Generator().manual_seed(0)
    count, sources, most, longest = inputs["places"].shape
    places = torch.randint(0, 15, (count, sources + 1, most + 2, longest + 3), generator=chance)
    kept = torch.zeros_like(places, dtype=torch.bool)
    kept[:, :sources, :most, :longest] = inputs["kept"]
    places[kept] = inputs["places"][inputs["kept"]]
    # and pieces that no mention has: padding, the special first piece
    hidden = torch.cat([inputs["hidden"], torch.zeros(count, 4, WIDTH)], dim=1)
    here = torch.arange(hidden.shape[1])
    used = ((here >= inputs["mentions"][..., :1]) & (here < inputs["mentions"][..., 1:])).any(1)
    for row in range(count):
        used[row, places[row][kept[row]]] = True
    hidden[~used] = 1e4 * torch.randn(int((~used).sum()), WIDTH, generator=chance)
    found = head(hidden, inputs["mentions"], places, kept)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_what_is_kept_changes_something(head):
    inputs = rows(1)
    moved = inputs["hidden"].clone()
    row, source, mention, piece = inputs["kept"].nonzero()[-1]
    moved[row, inputs["places"][row, source, mention, piece]] += 1
    assert (head(**inputs) - head(**{**inputs, "hidden": moved}))[row].abs().max() > 1e-3


def test_the_other_rows_of_a_batch_change_nothing(head):
    inputs = rows(2)
    together = head(**inputs)
    alone = torch.cat([head(**{k: v[i : i + 1] for k, v in inputs.items()}) for i in range(len(together))])
    torch.testing.assert_close(alone, together, rtol=0, atol=1e-5)
    turned = head(**{k: v.flip(0) for k, v in inputs.items()}).flip(0)
    torch.testing.assert_close(turned, together, rtol=0, atol=1e-5)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_resolvers_mentions_and_pieces_changes_nothing(seed, head):
    inputs = rows(3)
    chance = np.random.default_rng(seed)
    mixed = dict(inputs)
    for axis in (1, 2, 3):
        order = torch.from_numpy(chance.permutation(inputs["kept"].shape[axis]))
        mixed |= {k: mixed[k].index_select(axis, order) for k in ("places", "kept")}
    torch.testing.assert_close(head(**mixed), head(**inputs), rtol=0, atol=1e-5)


def test_rows_without_evidence_have_none_and_learn_without_nan(head):
    inputs = rows(4, count=2)
    inputs["kept"] = torch.zeros_like(inputs["kept"])
    pool_inputs = [inputs[k] for k in ("hidden", "mentions", "places", "kept")]
    assert not head.evidence(*pool_inputs).any()
    hidden = inputs["hidden"].requires_grad_()
    head(**{**inputs, "hidden": hidden}).sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in [hidden, *head.parameters()])
    head.zero_grad()


def test_masks_keep_what_is_true():
    weights = masked_softmax(torch.zeros(2, 4), torch.tensor([[1, 1, 0, 0], [0, 0, 0, 0]]).bool())
    assert weights.tolist() == [[0.5, 0.5, 0, 0], [0, 0, 0, 0]]


def test_pooling_gives_each_group_its_own_vectors():
    pool = AttnPool(2)
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    pooled = pool(vectors, torch.tensor([[True, False, False], [False, False, True]]))
    torch.testing.assert_close(pooled, vectors[[0, 2]])
