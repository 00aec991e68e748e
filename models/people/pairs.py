"""Trains the scorer of pairs of mentions (:mod:`gapstack.coreference.pairs`): two layers of MiniLM and a comparison.

It begins with rows of which only a pronoun and two names are known: KnowRef's sentences, and stage 2 of GAP's shared
task with a teacher's soft labels. Then it learns from documents, in stretches of three segments, and from GAP's rows.
The layers below are computed once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from readings import FOLDS, NEITHER, Reading
from torch import nn
from torch.nn import functional

from gapstack.coreference.mentions import Kind, Mention, Place
from gapstack.coreference.pairs import (
    DISTANCES,
    FILE,
    FROZEN,
    TUNED,
    Classes,
    FrozenLayers,
    PairScorer,
    compared,
    layers_of,
)
from gapstack.data import Span
from gapstack.data.augment import mentions as occurrences
from gapstack.data.example import Example, Gender
from gapstack.data.extra import load as load_extra
from gapstack.data.teacher import load_teacher
from gapstack.encoding.encoders import load_encoder
from gapstack.progress import progress
from gapstack.text.grammar import Role

WIDTH, HEADS, HIDDEN = 384, 12, 128
STRETCH = 3
"""Segments of a document that are compared with each other in training."""
_AROUND = (60, 80)  # characters of a row before and after its mentions
_ROWS = {"gap": 8, "rows": 20}  # in a batch
_GAP_SHARE = 0.4  # of GAP's rows in each epoch
_POOL = 640  # rows of which those of similar length go together
_WARM_UP = 60  # steps
_DOCUMENT = 60.0  # mentions that a stretch's loss is divided by


class Layer(nn.Module):
    """A transformer layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.o = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.f1, self.f2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        """States (b, L, w) of the next layer; ``keep`` (b, L) is False for padding."""
        size, length, _ = x.shape
        q, k, v = self.qkv(x).view(size, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
        x = self.ln1(x + self.dropout(self.o(attended.transpose(1, 2).reshape(size, length, WIDTH))))
        inner: torch.Tensor = self.ln2(x + self.dropout(self.f2(functional.gelu(self.f1(x)))))
        return inner


class PairNetwork(nn.Module):
    """The scorer in torch; the names of its weights are :class:`PairScorer`'s."""

    def __init__(self, top: Mapping[str, np.ndarray]):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(TUNED))
        self.v = nn.Linear(2 * WIDTH, HIDDEN)
        self.left, self.right, self.lp, self.rp = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.prod, self.out = nn.Linear(HIDDEN, HIDDEN, bias=False), nn.Linear(HIDDEN, 1)
        self.eps = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
        self.valid = nn.Linear(HIDDEN, 1)
        self.tables = {"dist": 2 * (len(DISTANCES) + 1), "cat": 81, "gap": 8, "same": 5, "match": 4}
        for name, rows in self.tables.items():
            table = nn.Embedding(rows, HIDDEN)
            nn.init.normal_(table.weight, std=0.1 if name == "dist" else 0.0)
            setattr(self, name, table)
        nn.init.zeros_(self.out.bias)
        self.load_state_dict({name: torch.from_numpy(value) for name, value in top.items()}, strict=False)

    def states(self, segments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """States of each segment's pieces; both begin and end with a special piece, which is left out."""
        x = nn.utils.rnn.pad_sequence(list(segments), batch_first=True)
        lengths = torch.tensor([len(one) for one in segments])
        keep = torch.arange(x.shape[1]) < lengths[:, None]
        for layer in self.layers:
            x = layer(x, keep)
        return [x[row, 1 : len(one) - 1] for row, one in enumerate(segments)]

    def vectors(self, states: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Vectors (k, h) of mentions with these first and last pieces (k, 2)."""
        ends = functional.dropout(states[places].flatten(1), 0.1, self.training)
        return functional.dropout(self.v(ends), 0.1, self.training)

    def logits(self, vectors: torch.Tensor, pairs: Pairs) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of pairs (p,), and of no antecedent (k,)."""
        i, j = pairs.i, pairs.j
        hidden = self.left(vectors)[i] + self.right(vectors)[j]
        hidden = hidden + self.prod(self.lp(vectors)[i] * self.rp(vectors)[j])
        for name, rows in pairs.classes.items():
            hidden = hidden + getattr(self, name)(rows)
        hidden = functional.dropout(functional.relu(hidden), 0.1, self.training)
        return self.out(hidden)[:, 0].float(), self.eps(vectors)[:, 0].float()

    def scorer(self) -> PairScorer:
        """The same weights for numpy."""
        weights = {name: value.detach().float().numpy() for name, value in self.state_dict().items()}
        return PairScorer(weights, FrozenLayers.embedded())


@dataclass(frozen=True)
class Pairs:
    """Mentions i (p,) that are compared with j (p,), and the classes of these pairs by table."""

    i: torch.Tensor
    j: torch.Tensor
    classes: dict[str, torch.Tensor]

    @classmethod
    def of(cls, mentions: Sequence[Mention], owners: Sequence[int]) -> Pairs:
        """Compare some mentions, by their places, with all that they may refer to."""
        classes = Classes(mentions)
        others = [compared(mentions, i) for i in owners]
        found = [classes.of(i, of) for i, of in zip(owners, others, strict=True) if of]
        return cls(
            torch.tensor([i for i, of in zip(owners, others, strict=True) for _ in of]),
            torch.tensor([j for of in others for j in of]),
            {name: torch.from_numpy(np.concatenate([one[name] for one in found])) for name in found[0]},
        )


@dataclass(frozen=True)
class Lesson:
    """Mentions of adjacent segments, by first and last piece, and what to learn about them.

    Each of t targets is a set of alternatives of its owner, pairs or no antecedent, whose total probability counts.
    """

    kind: str
    segments: range
    places: torch.Tensor
    pairs: Pairs
    owners: torch.Tensor
    weights: torch.Tensor
    right: torch.Tensor
    """Target and pair of each right pair (q, 2)."""
    new: torch.Tensor
    """Targets (t,) that have no antecedent among their alternatives."""
    valid: torch.Tensor | None = None
    """Mentions (k,) that denote something, where all that do are known."""

    def loss(self, network: PairNetwork, states: torch.Tensor) -> torch.Tensor:
        """Negative log-probability of the targets, by weight."""
        vectors = network.vectors(states, self.places)
        logits, alone = network.logits(vectors, self.pairs)
        peaks = alone.detach().scatter_reduce(0, self.pairs.i, logits.detach(), "amax")
        exponentials, of_new = torch.exp(logits - peaks[self.pairs.i]), torch.exp(alone - peaks)
        totals = of_new.index_add(0, self.pairs.i, exponentials)
        mass = (of_new[self.owners] * self.new).index_add(0, self.right[:, 0], exponentials[self.right[:, 1]])
        loss = -(self.weights * torch.log((mass / totals[self.owners]).clamp(min=1e-7))).sum()
        if self.valid is not None:
            found = network.valid(vectors)[:, 0].float()
            loss = loss + 0.5 * functional.binary_cross_entropy_with_logits(
                found, self.valid, reduction="sum"
            )
        return loss


class Library:
    """Segments of texts with the states (n, w) of their pieces below the layers that are trained."""

    def __init__(self) -> None:
        self._encoder = FrozenLayers.embedded()
        self._states: list[np.ndarray] = []
        self._starts = [0]

    def add(self, text: str, spans: Sequence[Span], place: Place) -> np.ndarray:
        """Add a text, and return the first and last piece (k, 2) of mentions, counted over the library."""
        pieces, places = self._encoder.pieces(text, spans, place)
        first = self._starts[-1]
        for states in self._encoder.states(pieces):
            self._states.append(states.astype(np.float16))
            self._starts.append(self._starts[-1] + len(states) - 2)
        return places + first

    def segment_of(self, piece: int) -> int:
        """Number of the segment of a piece."""
        return bisect_right(self._starts, piece) - 1

    def begin(self, segment: int) -> int:
        """First piece of a segment."""
        return self._starts[segment]

    def size(self, segments: range) -> int:
        """Number of pieces of segments."""
        return self._starts[segments.stop] - self._starts[segments.start]

    def tensors(self, segments: Iterable[int]) -> list[torch.Tensor]:
        """States of segments, special pieces included."""
        return [torch.from_numpy(self._states[number].astype(np.float32)) for number in segments]


@dataclass(frozen=True)
class Chapter:
    """A document's or row's mentions in order, their pieces (k, 2), and clusters."""

    kind: str
    mentions: list[Mention]
    places: np.ndarray
    clusters: list[str | None]

    def lessons(self, library: Library, order: np.random.Generator) -> Iterator[Lesson]:
        """Stretches of segments, which begin at random."""
        if len(self.mentions) < 2:
            return
        first, last = (library.segment_of(at) for at in (self.places.min(), self.places.max()))
        start = first - (int(order.integers(STRETCH)) if last - first >= STRETCH else 0)
        numbers = np.array([library.segment_of(at) for at in self.places[:, 0]])
        for begin in range(start, last + 1, STRETCH):
            segments = range(max(begin, first), min(begin + STRETCH, last + 1))
            chosen = np.flatnonzero((numbers >= segments.start) & (numbers < segments.stop))
            if len(chosen) > 1:
                lesson = self._lesson(library, segments, chosen)
                if lesson is not None:
                    yield lesson

    def _lesson(self, library: Library, segments: range, chosen: np.ndarray) -> Lesson | None:
        clusters = [self.clusters[i] for i in chosen]
        mentions = [self.mentions[i] for i in chosen]
        earlier = {self.clusters[i] for i in range(chosen[0])} - {None}
        is_row = self.kind == "gap"
        owners = [
            i
            for i, one in enumerate(mentions)
            if not is_row or (one.kind is Kind.PRONOUN and clusters[i] is not None)
        ]
        pairs = Pairs.of(mentions, owners) if any(owners) else None
        if pairs is None:
            return None
        of_owner: dict[int, list[int]] = {i: [] for i in owners}
        for pair, (i, j) in enumerate(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True)):
            nobody = clusters[i] == NEITHER and clusters[j] is None
            if nobody or (clusters[i] is not None and clusters[i] == clusters[j] != NEITHER):
                of_owner[i].append(pair)
        # an antecedent may lie before the stretch
        owners = [i for i in owners if of_owner[i] or clusters[i] not in earlier]
        if not owners:
            return None
        weights = [3.0 if is_row else 1.0 if mentions[i].kind is Kind.PRONOUN else 0.5 for i in owners]
        new = [float(not of_owner[i] or clusters[i] == NEITHER) for i in owners]
        right = [(target, pair) for target, i in enumerate(owners) for pair in of_owner[i]]
        return Lesson(
            self.kind,
            segments,
            # a mention may end in the segment after the stretch
            torch.from_numpy(
                np.minimum(self.places[chosen] - library.begin(segments.start), library.size(segments) - 1)
            ),
            pairs,
            torch.tensor(owners),
            torch.tensor(weights),
            torch.tensor(right, dtype=torch.long).reshape(-1, 2),
            torch.tensor(new),
            None if is_row else torch.tensor([float(one is not None) for one in clusters]),
        )


def chapters(readings: Sequence[Reading], library: Library) -> list[Chapter]:
    """Documents and rows of GAP."""
    result = []
    for reading in progress_over(readings, "encoding"):
        places = [
            library.add(passage.text, [mention.span for mention in mentions], passage.origin)
            for passage, mentions in reading.passages
        ]
        mentions = [mention for _, own in reading.passages for mention in own]
        clusters = [reading.cluster[id(mention)] for mention in mentions]
        result.append(Chapter(reading.corpus, mentions, np.concatenate(places), clusters))
    return result


def row_lessons(library: Library) -> Iterator[Lesson]:
    """KnowRef's sentences and the teacher's rows of stage 2, cut to the part that has the two names and the pronoun."""
    known = load_extra("knowref-train").corpus
    soft = load_teacher("stage2")
    rows = [
        *zip(known, np.eye(3)[known.labels], strict=True),
        *zip(soft.corpus, soft.probabilities, strict=True),
    ]
    for row, probabilities in progress_over(rows, "encoding rows"):
        lesson = _row_lesson(row, probabilities, library)
        if lesson is not None:
            yield lesson


def _row_lesson(row: Example, probabilities: np.ndarray, library: Library) -> Lesson | None:
    spans = (row.a, row.b, row.pronoun)
    begin = max(0, min(span.start for span in spans) - _AROUND[0])
    end = max(span.end for span in spans) + _AROUND[1]
    found = {span: side for side, name in enumerate((row.a, row.b)) for span in occurrences(row, name)}
    found = {span: side for span, side in found.items() if begin <= span.start and span.end <= end}
    names = sorted(found)
    places = library.add(
        row.text[begin:end], [*names, row.pronoun], lambda at: Span(at.start + begin, at.end + begin)
    )
    mentions = [
        Mention(span, at, at, at, kind, row.text[slice(*span)], 0, Role.OTHER, -1)
        for span, at, kind in zip(
            (*names, row.pronoun),
            places[:, 0].tolist(),
            (*[Kind.NAME] * len(names), Kind.PRONOUN),
            strict=True,
        )
    ]
    mentions[-1].sign = {Gender.MASCULINE: -1, Gender.FEMININE: 1}[row.gender]
    order = sorted(range(len(mentions)), key=lambda i: mentions[i].start)
    mentions, places = [mentions[i] for i in order], places[order]
    owner = next(i for i, one in enumerate(mentions) if one.kind is Kind.PRONOUN)
    pairs = Pairs.of(mentions, [owner])
    sides = [found[mentions[j].span] for j in pairs.j.tolist()]
    segment = library.segment_of(int(places.min()))
    segments = range(segment, library.segment_of(int(places.max())) + 1)
    return Lesson(
        "rows",
        segments,
        torch.from_numpy(places - library.begin(segment)),
        pairs,
        torch.full((3,), owner),
        torch.from_numpy(probabilities).float(),
        torch.tensor([(side, pair) for pair, side in enumerate(sides)]),
        torch.tensor([0.0, 0.0, 1.0]),
    )


def train_scorers(readings: Sequence[Reading], work: Path, epochs: int, seed: int) -> PairScorer:
    """Compare the mentions of each half of the folds by a scorer of the other half, and return that of all.

    Scorers are kept in the folder ``work``, and read if they are there.
    """
    halves = {
        f"{'first' if half else 'second'}": [one for one in readings if (one.fold < FOLDS // 2) == half]
        for half in (True, False)
    }
    parts = {**halves, "all": list(readings)}
    encoder = FrozenLayers.embedded()
    missing = [part for part in parts if not (work / part / FILE).is_file()]
    if missing:
        for part in ("rows", *missing):
            (work / part).mkdir(parents=True, exist_ok=True)
        library = Library()
        own = dict(zip(map(id, readings), chapters(readings, library), strict=True))
        top = layers_of(load_encoder().folder / "model.safetensors", range(FROZEN, FROZEN + TUNED))
        if not (work / "rows" / FILE).is_file():
            rows = list(row_lessons(library))
            train(PairNetwork(top), library, [], rows, (1e-4, 1e-3), 1, seed).scorer().save(work / "rows")
        start = PairNetwork(PairScorer.load(work / "rows", encoder).weights)
        for part in missing:
            taught = [own[id(reading)] for reading in parts[part]]
            train(start, library, taught, [], (1.5e-4, 2e-3), epochs, seed).scorer().save(work / part)
    first, second, whole = (PairScorer.load(work / part, encoder) for part in parts)
    describe(halves["second"], first)
    describe(halves["first"], second)
    return whole


def train(
    start: PairNetwork,
    library: Library,
    chapters: Sequence[Chapter],
    rows: Sequence[Lesson],
    rates: tuple[float, float],
    epochs: int,
    seed: int,
) -> PairNetwork:
    """Train a copy of a network; ``rates`` are those of the encoder's layers and of the rest."""
    network, order = deepcopy(start), np.random.default_rng(seed)
    torch.manual_seed(seed)
    batches = [batch for _ in range(epochs) for batch in _batches(library, chapters, rows, order)]
    encoder = list(network.layers.parameters())
    rest = [value for name, value in network.named_parameters() if not name.startswith("layers.")]
    groups = [{"params": group, "lr": rate} for group, rate in zip((encoder, rest), rates, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / _WARM_UP, (len(batches) - step) / len(batches))
    )
    network.train()
    with progress("training on pairs", len(batches)) as ticker:
        for batch in batches:
            numbers = [number for lesson in batch for number in lesson.segments]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                segments = library.tensors(numbers)
                states = dict(zip(numbers, network.states(segments), strict=True))
                losses = [
                    one.loss(network, torch.cat([states[number] for number in one.segments])) for one in batch
                ]
            size = _DOCUMENT if batch[0].valid is not None else len(batch)
            (sum(losses) / size).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            ticker.advance(1)
    return network.eval()


def _batches(
    library: Library, chapters: Sequence[Chapter], rows: Sequence[Lesson], order: np.random.Generator
) -> list[list[Lesson]]:
    """Lessons of an epoch: each stretch of a document alone, rows of similar length together."""
    chosen = [one for one in chapters if one.kind != "gap" or order.random() < _GAP_SHARE]
    lessons = [*(lesson for one in chosen for lesson in one.lessons(library, order)), *rows]
    batches = [[lesson] for lesson in lessons if lesson.kind not in _ROWS]
    for kind, size in _ROWS.items():
        own = [lesson for lesson in lessons if lesson.kind == kind]
        for pool in np.array_split(order.permutation(len(own)), max(1, len(own) // _POOL)):
            by_length = sorted(pool, key=lambda i: library.size(own[i].segments))
            batches += [[own[i] for i in by_length[at : at + size]] for at in range(0, len(pool), size)]
    return [batches[i] for i in order.permutation(len(batches))]


def describe(readings: Sequence[Reading], scorer: PairScorer) -> None:
    """Compare the mentions of documents by a scorer, which is kept to link them."""
    for reading in progress_over(readings, "comparing mentions"):
        reading.scorer = scorer
        for passage, mentions in reading.passages:
            spans = [mention.span for mention in mentions]
            for mention, vector in zip(
                mentions, scorer.vectors(passage.text, spans, passage.origin), strict=True
            ):
                mention.vector = vector.tolist()
        for _ in scorer.judge_all(reading.units):
            pass


def progress_over(values: Sequence[Any], title: str) -> Iterator[Any]:
    """The values, with a bar."""
    with progress(title, len(values)) as ticker:
        for value in values:
            yield value
            ticker.advance(1)
