"""Train the model of running text on LitBank, GUM, FantasyCoref, Friends, KnowRef, DPR and Winogrande.

The lower eight layers of all-mpnet-base-v2 are fine-tuned with scorers of mentions and links. A step reads up to four
consecutive passages of a document, in half of the steps with the pronouns of the other gender, and four rows of two
names; every fifth step reads an invented text (``invented.py``) instead of the passages. Ten novels, five tales,
three long stories, an episode of Friends and GUM's test documents are held out for development, unless
``--everything`` is given; ``--without SOURCE`` holds out a whole corpus, or one of the sources of rows. The weights
are averaged over the last steps. The state is saved every 100 steps, and the same command goes on where it was
stopped.

    python models/running_text/train.py --epochs 3.6
    python models/running_text/export.py models/running_text/work/state.pt models/gapstack-text

takes an hour on a core with AMX. The upper layers can be trained on from the shipped model, and be averaged with it,
here two to one:

    python models/running_text/train.py --start models/gapstack-text --frozen 4 --epochs 4 --head-lr 3e-4 --work W
    python models/running_text/export.py W/state.pt W/state.pt models/gapstack-text models/gapstack-text
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from corpora import CORPORA, ROWS, AnnotatedDocument, read_documents, read_rows
from invented import InventedTexts
from network import WIDTHS, Network, trained_weights
from torch import Tensor, nn

from gapstack.data import Span
from gapstack.data.example import Example, Gender, Label
from gapstack.data.gap_data import gap_split
from gapstack.data.person_words import HE, PRONOUNS, SHE, THEY
from gapstack.running_text.evidence import Entity, EntityMemory, mention_features
from gapstack.running_text.lexicon import Lexicon
from gapstack.running_text.mentions import Mention, MentionKind, describe
from gapstack.running_text.quotations import quotation_of, quotations
from gapstack.running_text.windows import passages
from gapstack.running_text.word_pieces import WordPieces, WordPieceTokenizer

ENCODER = "sentence-transformers/all-mpnet-base-v2"
LAYERS, FROZEN = 8, 2
SHIPPED = Path(__file__).parents[1] / "gapstack-text"
_WINDOWS = 4
_ROWS = 4  # of each source
_LONGEST = 480  # pieces of a window
_LONGEST_ROW = 160
_INVENTED = 0.2  # share of steps
_FALSE = 0.3  # probability from which a wrong span takes part in linking


@dataclass
class Part:
    """A passage of a document: its pieces, gold spans as (first, last) pieces, and spans that are ignored."""

    pieces: WordPieces
    own: int
    """First own piece."""
    offset: int
    """Number of the first piece in the document."""
    characters: np.ndarray
    """Characters of the document of each piece (n, 2)."""
    gold: dict[tuple[int, int], str]
    ignored: set[tuple[int, int]]


@dataclass
class Prepared:
    """A document as passages."""

    document: AnnotatedDocument
    parts: list[Part]
    quotes: list[Span]


def prepare(document: AnnotatedDocument, tokenizer: WordPieceTokenizer) -> Prepared:
    """Cut a document into passages and find the pieces of its mentions."""
    parts, offset = [], 0
    for window in passages(document.text):
        pieces = tokenizer.split(window.text)
        if len(pieces) > _LONGEST:
            pieces = WordPieces(
                pieces.ids[:_LONGEST],
                pieces.tokens[:_LONGEST],
                pieces.spans[:_LONGEST],
                pieces.case[:_LONGEST],
            )
        characters = np.array([window.origin(Span(*span)) for span in pieces.spans.tolist()])
        first_at = {start: i for i, (start, _) in reversed(list(enumerate(characters.tolist())))}
        last_at = {end: i for i, (_, end) in enumerate(characters.tolist())}
        own = int(np.searchsorted(pieces.spans[:, 0], window.own))

        gold = _inside(document.mentions, first_at, last_at)
        ignored = set(_inside(dict.fromkeys(document.ignored, ""), first_at, last_at))
        parts.append(Part(pieces, own, offset - own, characters, gold, ignored))
        offset += len(pieces) - own
    return Prepared(document, parts, quotations(document.text))


def _inside(
    mentions: dict[Span, str], first_at: dict[int, int], last_at: dict[int, int]
) -> dict[tuple[int, int], str]:
    """Clusters of the mentions of a passage, by first and last piece."""
    places = {
        (first_at.get(span.start, -1), last_at.get(span.end, -1)): name for span, name in mentions.items()
    }
    return {at: name for at, name in places.items() if min(at) >= 0 and 0 <= at[1] - at[0] < WIDTHS}


def neutralised(document: AnnotatedDocument, rng: np.random.Generator) -> AnnotatedDocument:
    """A copy in which some people are they or a neopronoun, which hardly any corpus has."""
    neopronouns = [pronoun for pronoun in PRONOUNS[Gender.NEUTRAL] if pronoun.subject != THEY.subject]
    options = [THEY._replace(reflexive="themself"), *neopronouns, None]
    shares = [0.35, *[0.3 / len(neopronouns)] * len(neopronouns), 0.35]
    chosen = {
        cluster: options[rng.choice(len(options), p=shares)]
        for cluster in sorted(set(document.mentions.values()))
    }
    edits = []
    for span, cluster in document.mentions.items():
        form, pronoun = document.form(span), chosen[cluster]
        old = SHE if form in SHE else HE
        if pronoun and form in old:
            new = pronoun[old.index(form)]
            following = document.text[span.end : span.end + 2]
            if form == "her" and following[:1] == " " and following[1:].isalpha():
                new = pronoun.possessive
            edits.append((span, new.capitalize() if document.text[span.start].isupper() else new))
    edits.sort()
    text, at, shifts = "", 0, []
    for span, new in edits:
        text += document.text[at : span.start] + new
        at = span.end
        shifts.append((span.end, len(text) - span.end))
    text += document.text[at:]
    ends = np.array([end for end, _ in shifts], dtype=np.int64)
    by = np.array([0, *(shift for _, shift in shifts)])

    def moved(span: Span) -> Span:
        # a start at an edit's start belongs before it, an end at its end after it
        start = span.start + int(by[np.searchsorted(ends, span.start, side="right")])
        return Span(start, span.end + int(by[np.searchsorted(ends, span.end, side="right")]))

    return replace(
        document,
        text=text,
        mentions={moved(span): cluster for span, cluster in document.mentions.items()},
        ignored={moved(span) for span in document.ignored},
    )


class Trainer:
    """Trains a network step by step."""

    def __init__(self, args: argparse.Namespace):
        self.rng = np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        self.lexicon = Lexicon.load(args.lexicon)
        self.tokenizer = WordPieceTokenizer.load(args.tokenizer)
        documents = read_documents(self.lexicon)
        if not args.everything:
            documents = [one for one in documents if not one.development]
        documents = [one for one in documents if one.corpus != args.without]
        self.prepared = [prepare(document, self.tokenizer) for document in documents]
        self.rows = [self._pieces_of(read_rows(source for source in ROWS if source != args.without))]
        if args.gap:
            rows = [*gap_split("development"), *gap_split("validation")]
            self.rows.append(self._pieces_of(rows))
        self.invented = InventedTexts()
        self.network = Network(ENCODER, LAYERS, args.frozen)
        if args.start:
            self.network.load_state_dict(trained_weights(args.start))
        heads = list(self.network.heads.parameters())
        body = [p for p in self.network.encoder.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(
            [{"params": body, "lr": args.lr}, {"params": heads, "lr": args.head_lr}],
            weight_decay=0.01,
            fused=True,
        )
        # a step for each four passages, shorter documents alone, and invented texts
        of_corpora = sum(-(-len(one.parts) // _WINDOWS) for one in self.prepared)
        self.steps = int(args.epochs * of_corpora / (1 - _INVENTED))
        warm = max(1, self.steps // 20)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer,
            lambda step: min((step + 1) / warm, max(0.02, (self.steps - step) / (self.steps - warm))),
        )
        self.average = {
            k: v.clone() for k, v in self.network.state_dict().items() if v.dtype.is_floating_point
        }
        self.step = 0
        self.losses: dict[str, list[float]] = defaultdict(list)

    def _pieces_of(self, rows: Iterable[Example]) -> list[tuple[Example, WordPieces]]:
        """Rows whose pronoun is one of the names, but for the longest."""
        split = [(row, self.tokenizer.split(row.text)) for row in rows if row.label != Label.NEITHER]
        return [(row, pieces) for row, pieces in split if len(pieces) < _LONGEST_ROW]

    def window_ids(self, pieces: WordPieces, swap: bool) -> np.ndarray:
        """Ids with special tokens."""
        ids = self.tokenizer.swapped(pieces) if swap else pieces.ids
        return np.concatenate([[self.tokenizer.first], ids, [self.tokenizer.last]])

    def document_loss(self, prepared: Prepared, first: int) -> tuple[Tensor, Tensor]:
        """Losses of mentions and of links of consecutive passages."""
        parts = prepared.parts[first : first + _WINDOWS]
        swap, in_lower = self.rng.random() < 0.5, self.rng.random() < 0.15
        corpus = prepared.document.corpus
        style = CORPORA.index(corpus) + 1 if corpus in CORPORA and self.rng.random() < 0.6 else 0
        states = self.network.states([self.window_ids(part.pieces, swap) for part in parts])
        text = prepared.document.text
        mention_loss = torch.zeros(())
        found: list[tuple[Mention, str | None, Tensor, Tensor]] = []
        for number, (part, state) in enumerate(zip(parts, states, strict=True)):
            n = len(part.pieces)
            case = torch.from_numpy(np.where(part.pieces.case == 3, 3, 0) if in_lower else part.pieces.case)
            scores = self.network.heads.span_scores(state, case, style)
            target = torch.zeros(n, WIDTHS)
            ends = np.arange(n)[:, None] + np.arange(WIDTHS)[None]
            allowed = part.pieces.begins[:, None] & (ends < n) & part.pieces.ends[np.minimum(ends, n - 1)]
            for a, b in part.gold:
                target[a, b - a] = 1
            for a, b in part.ignored:
                allowed[a, b - a] = False
            mask = torch.from_numpy(allowed)
            loss = nn.functional.binary_cross_entropy_with_logits(scores[mask], target[mask], reduction="sum")
            mention_loss = mention_loss + loss / max(len(part.gold), 5)
            probability = torch.sigmoid(scores.detach()).numpy() * allowed
            spans = dict(part.gold)
            wrong = [
                (-probability[a, w], int(a), int(a + w))
                for a, w in zip(*np.nonzero(probability > _FALSE), strict=True)
            ]
            for _, a, b in sorted(wrong)[: 10 + len(part.gold)]:
                spans.setdefault((a, b), "")
            own = part.own if number else 0
            for (a, b), cluster in sorted(spans.items()):
                if a < own or (a, b) in part.ignored:
                    continue
                span = Span(int(part.characters[a, 0]), int(part.characters[b, 1]))
                mention = describe(text, span, part.offset + a, part.offset + b, self.lexicon)
                mention.validity = float(probability[a, b - a]) or 0.5
                mention.quote = quotation_of(prepared.quotes, span)
                found.append((mention, cluster or None, state[a], state[b]))
        if len(found) < 2:
            return mention_loss / len(parts), torch.zeros(())
        return mention_loss / len(parts), self.link_loss(found)

    def link_loss(self, found: Sequence[tuple[Mention, str | None, Tensor, Tensor]]) -> Tensor:
        """Mean negative log-probability of the gold antecedents, or of none."""
        memory, clusters = EntityMemory(), [cluster for _, cluster, _, _ in found]
        entities: dict[str, Entity] = {}
        alone = self.rng.random() < 0.2  # what is known of each mention's entity is only itself
        later, earlier, features, groups = [], [], [], []
        for number, (mention, cluster, _, _) in enumerate(found):
            numbers = memory.candidates(mention)
            if len(numbers):
                features.append(memory.features(mention, numbers))
                later += [number] * len(numbers)
                earlier += numbers.tolist()
            groups.append(len(numbers))
            # some links are missed here too, as they are when a text is read
            known = None if alone or cluster is None or self.rng.random() < 0.05 else entities.get(cluster)
            entity = memory.add(mention, known)
            if cluster is not None and not alone:
                entities.setdefault(cluster, entity)
        heads = self.network.heads
        table = torch.from_numpy(np.stack([mention_features(one[0]) for one in found])).float()
        vectors = heads.mentions(
            torch.stack([one[2] for one in found]), torch.stack([one[3] for one in found]), table
        )
        new = heads.new(vectors)[:, 0]
        scores = heads.links(
            vectors,
            torch.tensor(later),
            torch.tensor(earlier),
            torch.from_numpy(np.concatenate(features)).float(),
        )
        total, weights, at = torch.zeros(()), 0.0, 0
        for number, size in enumerate(groups):
            mention, cluster = found[number][0], clusters[number]
            weight = 2.0 if mention.kind <= MentionKind.NEOPRONOUN else 1.0
            options = torch.cat([new[number : number + 1], scores[at : at + size]])
            right = [cluster is not None and clusters[j] == cluster for j in earlier[at : at + size]]
            wanted = torch.tensor([not any(right), *right])
            at += size
            if size:
                log_p = torch.log_softmax(options, 0)
                total = total - weight * torch.logsumexp(log_p[wanted], 0)
                weights += weight
        return total / max(weights, 1.0)

    def row_loss(self) -> Tensor:
        """Mean negative log-probability of the right name of rows, of both names."""
        swap = self.rng.random() < 0.5
        rows = [
            of_source[number]
            for of_source in self.rows
            for number in self.rng.choice(len(of_source), _ROWS, replace=False)
        ]
        states = self.network.states([self.window_ids(pieces, swap) for _, pieces in rows])
        total, count = torch.zeros(()), 0
        for (row, pieces), state in zip(rows, states, strict=True):
            places = []
            for span in (row.pronoun, row.a, row.b):
                inside = np.flatnonzero((pieces.spans[:, 0] < span.end) & (pieces.spans[:, 1] > span.start))
                places.append((int(inside[0]), int(inside[-1])))
            mentions = [
                describe(row.text, span, *at, self.lexicon)
                for span, at in zip((row.pronoun, row.a, row.b), places, strict=True)
            ]
            for mention in mentions[1:]:
                mention.noun = mention.name = 0.0  # both names fit the pronoun, so gender must not teach
            if max(places[1][0], places[2][0]) > places[0][0]:
                continue
            memory = EntityMemory()
            for mention in mentions[1:]:
                memory.add(mention, None)
            numbers = np.arange(2)
            features = torch.from_numpy(memory.features(mentions[0], numbers)).float()
            table = torch.from_numpy(
                np.stack([mention_features(one) for one in (*mentions[1:], mentions[0])])
            ).float()
            order = [places[1], places[2], places[0]]
            vectors = self.network.heads.mentions(
                torch.stack([state[a] for a, _ in order]), torch.stack([state[b] for _, b in order]), table
            )
            scores = self.network.heads.links(
                vectors, torch.tensor([2, 2]), torch.from_numpy(numbers), features
            )
            total = total - torch.log_softmax(scores, 0)[int(row.label or 0)]
            count += 1
        return total / max(count, 1)

    def order(self) -> list[tuple[int, int]]:
        """Documents and first passages of an epoch, in random order."""
        chunks = []
        for number, one in enumerate(self.prepared):
            shift = int(self.rng.integers(_WINDOWS)) if len(one.parts) > _WINDOWS else 0
            starts = (
                sorted({0, *range(shift, len(one.parts), _WINDOWS)})
                if shift
                else range(0, len(one.parts), _WINDOWS)
            )
            chunks += [(number, start) for start in starts]
        self.rng.shuffle(chunks)
        return [(int(a), int(b)) for a, b in chunks]

    def train(self, work: Path, minutes: float) -> None:
        """Train until the end of the schedule or of the time."""
        started, first = time.monotonic(), self.step
        self.network.train()
        decay = min(0.995, 1 - 10 / max(self.steps, 100))
        queue: list[tuple[int, int]] = []
        while self.step < self.steps and time.monotonic() - started < 60 * minutes:
            queue = queue or self.order()
            if self.rng.random() < _INVENTED:
                start, prepared = 0, prepare(self.invented.make(self.rng), self.tokenizer)
            else:
                number, start = queue.pop()
                prepared = self.prepared[number]
            if prepared.document.corpus != "invented" and self.rng.random() < 0.15:
                chunk = neutralised(prepared.document, self.rng)
                prepared = prepare(chunk, self.tokenizer)
                start = min(start, len(prepared.parts) - 1)
            mention_loss, link_loss = self.document_loss(prepared, start)
            row_loss = self.row_loss()
            loss = mention_loss + link_loss + 0.3 * row_loss
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            self.schedule.step()
            self.step += 1
            for name, value in (("mentions", mention_loss), ("links", link_loss), ("rows", row_loss)):
                self.losses[name].append(value.item())
            with torch.no_grad():
                for name, value in self.network.state_dict().items():
                    if name in self.average:
                        self.average[name].lerp_(value, 1 - min(decay, self.step / (self.step + 10)))
            if self.step % 25 == 0:
                means = " ".join(
                    f"{name} {np.mean(values[-50:]):.3f}" for name, values in self.losses.items()
                )
                rate = (time.monotonic() - started) / (self.step - first)
                print(f"step {self.step}/{self.steps} {means}, {rate:.2f} s a step", flush=True)
            if self.step % 100 == 0 or self.step == self.steps:
                self.save(work)
        self.save(work)

    def save(self, work: Path) -> None:
        """Write the state atomically."""
        state = {
            "network": self.network.state_dict(),
            "average": {**self.network.state_dict(), **self.average},
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "step": self.step,
        }
        torch.save(state, work / "state.tmp")
        (work / "state.tmp").rename(work / "state.pt")

    def resume(self, work: Path) -> None:
        """Go on from a saved state."""
        state = torch.load(work / "state.pt", weights_only=True)
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self.average = {name: state["average"][name].clone() for name in self.average}
        self.step = state["step"]
        self.rng = np.random.default_rng(self.step)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work")
    parser.add_argument("--lexicon", type=Path, default=SHIPPED)
    parser.add_argument("--tokenizer", type=Path, default=SHIPPED / "tokenizer.json", help="of the encoder")
    parser.add_argument("--epochs", type=float, default=6)
    parser.add_argument("--lr", type=float, default=4e-5)
    parser.add_argument("--head-lr", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e6, help="stop after this time")
    parser.add_argument("--start", type=Path, help="a state, or the folder of a model, to start from")
    parser.add_argument("--frozen", type=int, default=FROZEN, help="lower layers that are not trained")
    parser.add_argument("--without", choices=(*CORPORA, *ROWS), help="hold out a whole source")
    parser.add_argument(
        "--gap", action="store_true", help="train on GAP's development and validation rows too"
    )
    parser.add_argument("--everything", action="store_true", help="train on the development part too")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(args)
    if (args.work / "state.pt").exists():
        trainer.resume(args.work)
    print(
        f"{len(trainer.prepared)} documents, {sum(map(len, trainer.rows))} rows, {trainer.steps} steps",
        flush=True,
    )
    trainer.train(args.work, args.minutes)


if __name__ == "__main__":
    main()
