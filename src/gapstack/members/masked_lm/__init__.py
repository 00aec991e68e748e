"""Masked language modelling: which of two common names a language model puts in the pronoun's place.

Lois, Fonollosa and Costa-jussa 2019, *BERT Masked Language Modeling for Co-reference Resolution* (46th place of the
shared task). What is known: names are replaced by common English ones, and BERT's own word probabilities are made a
classifier; the system has a logloss of .302 on stage 2. Code and settings were not found, so this is a
reconstruction, and its details are ours.

A and B are told by common first names of the pronoun's gender that are one word piece each
(see :mod:`~gapstack.members.masked_lm.name_substitution`, also for rows where that is impossible). The pronoun
alone is masked, and the log probabilities of both names at the mask, and of all other words together, are averaged over
several pairs of names in both orders, so that no name is likelier for what it is. A multinomial logistic regression
over these three and the distance of the first two, fitted on the training rows, gives the answer, NEITHER included.
Its weights for A and B are tied, so exchanging them exchanges the answers.

An encoder with a masked-LM head of its own is used as it is, in float32: only the regression is fitted.

An encoder without one, such as the embedded MiniLM, first gets BERT's head with the input embeddings as decoder, and
head and layers learn to guess names from unlabelled texts: those that name A or B again are told with other names, a
later mention is masked, and the name there is the answer. Why names: after guessing random and repeated words of
3,000 snippets of stage 2 the likelier name was right in 57% of the 400 first development rows (those with an answer),
and the regression, over five folds of these, had a logloss of .980, no better than the classes' shares (.974). After
4,000 masked names it was 65%, and .927. Writing "[MASK]'s" for "his" changed nothing (66%, .926) and is not done.
Those names were mostly the text's first; by now as many riddles ask for the second, which has not been measured.

The texts are stage 2's (no page of GAP is among them; 4,698 riddles, one training for all folds), or the rows given to
``fit`` (1,024 riddles in GAP development). The saved state says which (``learned_from``).

It cannot learn rows by heart: the regression sees four numbers of each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Example, sources
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.encoding.pieces import MENTIONS, PieceView, align
from gapstack.errors import MemberError
from gapstack.files import fingerprint
from gapstack.kinds import Count, Leaves, Plan, Positive, Seed
from gapstack.members.masked_lm.language_model import LanguageModel, TiedHead, has_own_head, with_own_head
from gapstack.members.masked_lm.name_substitution import COMMON_NAMES, repeated, single_pieces, tell, usable
from gapstack.members.member import Member, Probabilities, State
from gapstack.members.parts.fine_tuned import compact
from gapstack.members.parts.mirrored import MirroredLogistic
from gapstack.text.memory import Memory, row_key
from gapstack.training import (
    PieceData,
    Schedule,
    TrainingPlan,
    predict,
    seeded,
    train_once,
    trainable_encoder,
)
from gapstack.training.parameters import freeze

PUBLISHED: dict[str, Any] = {"encoder": "bert-base-uncased"}
"""An encoder with a masked-LM head of its own: ``create("masked_lm", **PUBLISHED)``. Which one the authors used, and
with what settings, is not known."""

GIVEN: Final = "given"
STAGE2: Final = "stage2"
FEATURES = ("log_p_a", "log_p_b", "log_p_rest", "gap")
"""What the regression reads: means of log probabilities, and how far apart the first two are."""
_MIRROR = (1, 0, 2, 3)
_CALIBRATION = "calibration."
Floats = NDArray[np.float64]


class MaskedLM(Member):
    """Which of two common names a language model puts in the pronoun's place.

    Parameters
    ----------
    encoder : str, optional
        Name or folder; the embedded MiniLM by default. It must have a mask among its pieces.
    pairs : int
        Pairs of names that each row is told with, at most, each in both orders: 2 * ``pairs`` passes for each row.
    names : mapping of gender to sequence of str, optional
        First names to choose from; by default
        :data:`~gapstack.members.masked_lm.name_substitution.COMMON_NAMES`. Those of more than one piece are left out.
    texts : str
        What an encoder without a masked-LM head learns from, none of it with its label: ``stage2``, the rows of
        Kaggle's second stage, or ``given``, the rows given to ``fit``.
    riddles : int
        Texts with a masked name to make of these, at most.
    training : mapping, optional
        Fields of the plan of that training that shall differ from :attr:`PLAN`; its ``precision`` counts later too.
    strength : float
        Inverse of the regression's L2 penalty, scikit-learn's ``C``.
    max_pieces : int, optional
        Longest window in pieces; by default the encoder's limit.
    seed : int
        Of the head's first weights, dropout, the riddles and their order.

    Raises
    ------
    MemberError
        If a setting is out of range, the encoder has no mask or fewer than two of a gender's names, no text names
        anybody twice, or the mentions of a text do not fit into the window.
    DataNotFoundError
        If ``texts`` is ``stage2`` and those rows are nowhere.
    """

    encoder: str | None = None
    pairs: Count = 2
    names: Mapping[str, Sequence[str]] | None = None
    texts: Literal["given", "stage2"] = STAGE2
    riddles: Leaves = 4000
    training: Plan | None = None
    strength: Positive = 1.0
    max_pieces: Count | None = None
    seed: Seed = 0

    PLAN = TrainingPlan(
        epochs=1,
        batch_size=32,
        encoder_lr=2e-4,
        head_lr=2e-3,
        frozen=("encoder.embeddings",),
        schedule=Schedule(shape="linear", warmup=0.1),
    )

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Stage 2, if its texts have been learned from, though without labels."""
        learns = not has_own_head(load_encoder(self.encoder))
        return ("gap-stage2",) if learns and self.texts == STAGE2 else ()

    def reads(self) -> dict[str, Any]:
        """Leave the texts out unless they are learned from."""
        return super().reads() | ({} if self.contaminated_by else {"texts": False})

    def _plan(self) -> TrainingPlan:
        return replace(self.PLAN.changed(dict(self.training or {})), seed=self.seed)

    def _fit(self, corpus: Corpus) -> None:
        encoder, labels = load_encoder(self.encoder), corpus.labels
        self._told(corpus, encoder)  # refuses what does not fit before anything is learned
        arrays: dict[str, NDArray[Any]] = {}
        learned_from = "nothing: its own masked-LM head"
        if not has_own_head(encoder):
            texts = corpus if self.texts == GIVEN else sources.stage2()
            arrays, riddles = self._learn(texts, encoder)
            learned_from = f"{len(riddles)} masked names in {texts.name}, {len(texts)} texts without labels"
        self._take(encoder, State(arrays, values={"learned_from": learned_from}))
        self.regression_ = self._regression().fit(self._features(corpus), labels)

    def _learn(self, texts: Corpus, encoder: Encoder) -> tuple[dict[str, NDArray[Any]], Corpus]:
        """Fit a tied head, and the layers beneath it, to masked names; give what was learned, and the riddles."""
        plan, model = self._plan(), self._fresh(encoder)
        riddles, answers = repeated(
            texts,
            {gender: self._names(encoder, gender) for gender in set(texts.genders)},
            _mask(encoder),
            self.riddles,
            self.seed,
        )
        if not len(riddles):
            raise MemberError(
                f"no text of {texts.name} names A and B and then either again, so encoder {encoder.name}, which has no "
                "masked-LM head, cannot learn one from them; give more rows, texts='stage2', or another encoder"
            )
        view = align(riddles, encoder, self.max_pieces)
        train_once(model, PieceData(view, np.array(answers), {"at": _masked(view)}), plan)
        freeze(model, plan.frozen)
        learned = {name: compact(name, p) for name, p in model.named_parameters() if p.requires_grad}
        return learned, riddles

    def _fresh(self, encoder: Encoder) -> LanguageModel:
        own = with_own_head(encoder)
        if own is not None:
            return LanguageModel(own)
        with seeded(self.seed):
            head = TiedHead(encoder.hidden_size, int(encoder.config["vocab_size"]))
            return LanguageModel(
                trainable_encoder(encoder, attention_dropout=self._plan().attention_dropout), head
            )

    def _names(self, encoder: Encoder, gender: str) -> dict[str, int]:
        return single_pieces(encoder, COMMON_NAMES if self.names is None else self.names, gender)

    def _told(self, corpus: Corpus, encoder: Encoder) -> tuple[PieceData, NDArray[np.int64]]:
        """Every row told with every pair in both orders, and which row each of these is."""
        mask = _mask(encoder)
        names = {gender: self._names(encoder, gender) for gender in dict.fromkeys(corpus.genders)}
        told: list[Example] = []
        words: list[tuple[int, int]] = []
        owners: list[int] = []
        for row, example in enumerate(corpus):
            known = names[example.gender]
            free = usable(example.text, list(known))
            for one, other in list(zip(free[::2], free[1::2], strict=False))[: self.pairs]:
                for a, b in ((one, other), (other, one)):
                    told.append(replace(tell(example, a, b, mask), id=f"{example.id} as {a}, {b}"))
                    words.append((known[a], known[b]))
                    owners.append(row)
        view = align(Corpus(told), encoder, self.max_pieces)
        return PieceData(view, None, {"at": _masked(view), "words": np.array(words)}), np.array(owners)

    def _features(self, corpus: Corpus) -> Floats:
        """Give :data:`FEATURES` of each row, (n, 4); rows that this model has read before are remembered."""
        encoder = load_encoder(self.encoder)
        decides = fingerprint(self.model_key_, self.pairs, self.names, self.max_pieces)

        def compute(rows: list[int]) -> Floats:
            data, owners = self._told(corpus.take(rows), encoder)
            precision = "float32" if has_own_head(encoder) else self._plan().precision
            found = predict(self.model_, data, precision=precision)
            sums = np.zeros((len(rows), found.shape[1]))
            np.add.at(sums, owners, found)
            return sums / np.bincount(owners)[:, None]

        means = np.array(_read.fetch([row_key(example, decides) for example in corpus], compute))
        return np.column_stack([means, np.abs(means[:, 0] - means[:, 1])])

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return self.regression_.predict_proba(self._features(corpus))

    def _regression(self) -> MirroredLogistic:
        return MirroredLogistic(_MIRROR, strength=self.strength)

    def _take(self, encoder: Encoder, state: State) -> None:
        """Answer from now on with what a file would give back."""
        self.model_ = self._fresh(encoder)
        self.model_.load_state_dict({n: torch.from_numpy(a) for n, a in state.arrays.items()}, strict=False)
        self.model_arrays_, self.values_ = state.arrays, state.values
        hashes = {
            name: hashlib.blake2b(array.tobytes(), digest_size=8).hexdigest()
            for name, array in state.arrays.items()
        }
        self.model_key_ = fingerprint(encoder.fingerprint, hashes, self._plan().precision)

    def _state(self) -> State:
        fitted = {f"{_CALIBRATION}{name}": array for name, array in self.regression_.arrays.items()}
        return State({**self.model_arrays_, **fitted}, values=self.values_)

    def _restore(self, state: State) -> None:
        encoder = load_encoder(self.encoder)
        own = {name: array for name, array in state.arrays.items() if name.startswith(_CALIBRATION)}
        model = {name: array for name, array in state.arrays.items() if name not in own}
        self._take(encoder, State(model, values=state.values))
        self.regression_ = self._regression().restore(
            {name.removeprefix(_CALIBRATION): array for name, array in own.items()}
        )


_read: Memory[Floats] = Memory(100_000)  # about 20 MB
"""Means of log probabilities, (3,), by row and model: folds whose models are the same read each row once."""


def _mask(encoder: Encoder) -> str:
    mask: str | None = encoder.tokenizer.mask_token
    if mask is None:
        raise MemberError(
            f"encoder {encoder.name} has no mask among its pieces; use one trained to fill masks"
        )
    return mask


def _masked(view: PieceView) -> NDArray[np.int64]:
    """Places (n,) of the masks that stand for the pronouns."""
    return view.mentions[:, MENTIONS.index("pronoun"), 0]
