"""What the cache gives back is what the encoder computes, and nothing is computed twice."""

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch

from gapstack import cache, processes
from gapstack.data import Corpus, Example, Span
from gapstack.encoding import activations as module
from gapstack.encoding import frozen
from gapstack.encoding.activations import SpanActivations, hidden_states, sentence_vectors, span_activations
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError

DTYPES = (torch.float32, torch.bfloat16)


@pytest.fixture
def forwarded(monkeypatch) -> list[int]:
    """Number of texts in each batch that went through the encoder."""
    sizes: list[int] = []
    original = module.forward

    def counting(request, view, rows, *options):
        sizes.append(len(rows))
        return original(request, view, rows, *options)

    monkeypatch.setattr(module, "forward", counting)
    return sizes


def test_vectors_are_the_encoders_own_at_the_mention_pieces(sample_test, tiny_encoder):
    corpus = sample_test[:20]
    found = span_activations(corpus, tiny_encoder, (0, 1, 2))
    view = align(corpus, tiny_encoder)
    assert found.vectors.dtype == (np.float32 if frozen.computes_in() == torch.float32 else np.float16)
    np.testing.assert_array_equal(found.counts, np.diff(view.mentions, axis=2)[..., 0])
    at = 0
    for row in range(len(corpus)):
        with torch.inference_mode():
            ids = torch.from_numpy(view.ids[view.row(row)])[None]
            states = tiny_encoder.model(ids, output_hidden_states=True).hidden_states
        for start, end in view.mentions[row]:
            expected = torch.stack([state[0, start:end] for state in states], dim=1).numpy()
            np.testing.assert_allclose(found.vectors[at : at + end - start], expected, atol=0.12)
            at += end - start
    assert at == len(found.vectors)


def test_nothing_is_computed_twice_for_subsets_orders_or_corpora_of_the_same_texts(
    sample_test, tiny_encoder, forwarded
):
    corpus = sample_test[:30]
    whole = span_activations(corpus, tiny_encoder, (1, 2))
    assert sum(forwarded) == 30
    forwarded.clear()
    rows = [7, 3, 29, 0]
    renamed = Corpus(corpus.take(rows), name="other", label_set="liu").unlabelled()
    some = span_activations(renamed, tiny_encoder, (2,))
    assert forwarded == []
    bounds = np.concatenate([[0], whole.counts.sum(axis=1).cumsum()])
    expected = np.concatenate([whole.vectors[bounds[row] : bounds[row + 1], 1:] for row in rows])
    np.testing.assert_array_equal(some.vectors, expected)
    np.testing.assert_array_equal(some.counts, whole.counts[rows])
    span_activations(sample_test[:33], tiny_encoder, (2, 1))
    assert sum(forwarded) == 3  # only what was missing


def test_several_processes_compute_what_one_does(sample_test, tiny_encoder, forwarded, tmp_path, monkeypatch):
    corpus = sample_test[:30]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(cache, "SHARD_ROWS", 8)
    here = span_activations(corpus, tiny_encoder, (1,), (1, 2))
    assert sum(forwarded) == 30
    forwarded.clear()
    module._latest.forget()
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path / "other"))
    monkeypatch.setattr(processes, "FORK_ROWS", 30)
    forked = span_activations(corpus, tiny_encoder, (1,), (1, 2))
    assert not forwarded or processes.fork_count(4, 30) == 1
    for name in ("vectors", "counts", "attention"):
        np.testing.assert_allclose(getattr(forked, name), getattr(here, name), atol=1e-6)


def test_what_follows_the_attention_of_the_last_layer_is_not_computed(
    sample_test, tiny_encoder, tmp_path, monkeypatch
):
    corpus = sample_test[:10]
    whole = span_activations(corpus, tiny_encoder, (0, 1, 2), (1, 2))
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path / "other"))
    cut = span_activations(corpus, tiny_encoder, (1,), (1, 2))
    np.testing.assert_array_equal(cut.vectors[:, 0], whole.vectors[:, 1])
    np.testing.assert_array_equal(cut.attention, whole.attention)
    model = frozen.load_frozen(frozen.Request(tiny_encoder, (1,), (1, 2)))
    weights = [sum(p.numel() for p in each.parameters()) for each in (model, tiny_encoder.model)]
    assert weights[0] < weights[1]


def test_other_windows_layers_and_spans_are_other_entries(sample_test, tiny_encoder, forwarded):
    corpus = sample_test[:4]
    span_activations(corpus, tiny_encoder, (1,))
    turned = corpus.map(lambda e: Example(e.id, e.text, e.a, e.pronoun, e.b))
    for arguments in ((corpus, (2,), None), (corpus, (1,), 40), (turned, (1,), None)):
        forwarded.clear()
        span_activations(arguments[0], tiny_encoder, arguments[1], max_pieces=arguments[2])
        assert sum(forwarded) == 4


def by_row(found: SpanActivations) -> list[list[np.ndarray]]:
    """Vectors and attention of each row."""
    vectors = np.split(found.vectors, found.counts.sum(axis=1).cumsum()[:-1])
    return [list(row) for row in zip(vectors, found.attention, strict=True)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.05), (torch.float32, 1e-3)])
def test_a_row_does_not_depend_on_its_batch_the_order_and_the_cache(
    sample_test, tiny_encoder, monkeypatch, tmp_path, dtype, tolerance
):
    monkeypatch.setattr(frozen, "computes_in", lambda: dtype)
    corpus = sample_test[:24]
    everything = by_row(span_activations(corpus, tiny_encoder, (0, 1, 2), (1, 2)))
    draw = np.random.default_rng(0)
    for number, layers in enumerate([(0, 1, 2), (1,)]):
        monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path / str(number)))  # cold
        heads = (2,) if number % 2 else ()
        for size in (3, 10):  # and warm
            rows = draw.permutation(24)[:size].tolist()
            found = by_row(span_activations(corpus.take(rows), tiny_encoder, layers, heads))
            for row, (vectors, attention) in zip(rows, found, strict=True):
                expected = everything[row][0][:, layers]
                np.testing.assert_allclose(vectors, expected, atol=tolerance, rtol=tolerance)
                expected = everything[row][1][[layer - 1 for layer in heads]]
                np.testing.assert_allclose(attention, expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("layers", [(), (3,), (0, 9)])
def test_missing_layers_are_refused_and_no_rows_need_no_encoder(layers, sample_test, tiny_encoder, forwarded):
    with pytest.raises(MemberError, match="layers 0 to 2"):
        span_activations(sample_test[:2], tiny_encoder, layers)
    with pytest.raises(MemberError, match="layers 0 to 2"):
        hidden_states(align(sample_test[:2], tiny_encoder), tiny_encoder, layers)
    found = span_activations(Corpus([]), tiny_encoder, (1,))
    assert found.vectors.shape == (0, 1, 32)
    assert found.padded()[0].shape == (0, 0, 32)
    assert forwarded == []


def test_a_window_is_encoded_once_whoever_the_mentions_are(sample_test, tiny_encoder, forwarded):
    rows = sample_test[:10]
    first = hidden_states(align(rows, tiny_encoder), tiny_encoder)
    assert sum(forwarded) == 10
    swapped = rows.map(lambda e: replace(e, a=e.b, b=e.a))
    again = hidden_states(align(swapped, tiny_encoder), tiny_encoder, (2,))  # -1 of two layers
    np.testing.assert_array_equal(first.values, again.values)
    assert sum(forwarded) == 10
    hidden_states(align(sample_test[5:12], tiny_encoder), tiny_encoder)
    assert sum(forwarded) == 12
    exact, rough = (hidden_states(align(rows, tiny_encoder), tiny_encoder, dtype=d).values for d in DTYPES)
    assert 0 < np.abs(exact - rough).max() < 0.2, "precisions do not mix"


def test_the_pairs_of_a_text_are_encoded_once(sample_test, tiny_encoder, monkeypatch, tmp_path):
    read = frozen.read_states
    texts: list[int] = []
    monkeypatch.setattr(
        frozen, "read_states", lambda model, ids, *more, **layers: (
            texts.append(len(ids)) or read(model, ids, *more, **layers)
        )
    )  # fmt: skip
    base = sample_test[:3]
    words = [[Span(*match.span()) for match in re.finditer(r"[a-z]{6,}", row.text)][:4] for row in base]
    pairs = Corpus(
        replace(row, id=f"{row.id} {a.start} {b.start}", a=a, b=b)
        for row, spans in zip(base, words, strict=True)
        for a, b in combinations(spans, 2)
    )
    together = span_activations(pairs, tiny_encoder, (1, 2), (2,))
    assert (len(pairs), sum(texts)) == (18, 3)
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path))
    alone = [span_activations(pairs[row : row + 1], tiny_encoder, (1, 2), (2,)) for row in range(18)]
    for field in ("vectors", "counts", "attention"):
        expected = np.concatenate([getattr(one, field) for one in alone])
        np.testing.assert_allclose(getattr(together, field), expected, atol=0.05)


SENTENCES = [
    ("this is bob.", (8, 11)),
    ("anna is here.", (0, 4)),  # the word first
    ("the name is carl", (12, 16)),  # the word last
]


@pytest.mark.parametrize("layer", [0, 1, -1])
def test_vectors_of_sentences_and_words_are_the_models_own(tiny_encoder, layer):
    found = sentence_vectors(SENTENCES, tiny_encoder, layer)
    for row, (text, (start, end)) in enumerate(SENTENCES):
        encoded = tiny_encoder.tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
        offsets = encoded.pop("offset_mapping")[0].numpy()
        with torch.inference_mode():
            states = tiny_encoder.model(**encoded, output_hidden_states=True).hidden_states[layer][0].numpy()
        inside = (offsets[:, 0] >= start) & (offsets[:, 1] <= end) & (offsets[:, 1] > offsets[:, 0])
        assert inside.sum() == end - start  # the tiny encoder spells words
        for vectors, expected in (
            (found.first, states[0]),
            (found.mean, states.mean(axis=0)),
            (found.word, states[inside].mean(axis=0)),
        ):
            np.testing.assert_allclose(vectors[row], expected, atol=5e-3)  # stored in float16


def test_a_word_without_pieces_and_a_sentence_with_too_many_are_refused(tiny_encoder):
    with pytest.raises(MemberError, match="no piece"):
        sentence_vectors([("a \u200b b", (2, 3))], tiny_encoder)
    with pytest.raises(MemberError, match=f"more than the {tiny_encoder.max_pieces}"):
        sentence_vectors([("a " * tiny_encoder.max_pieces, (0, 1))], tiny_encoder)
