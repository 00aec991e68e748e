"""Masked LM: log probabilities of two common names in the pronoun's place, calibrated.

Lois, Fonollosa and Costa-jussa 2019, *BERT Masked Language Modeling for Co-reference Resolution* (46th place of the
shared task): names are replaced by common English ones and BERT's word probabilities are made a classifier; the system
has a logloss of .302 on stage 2. Code and settings were not found, so this is a reconstruction with details of ours.

A and B become common first names of the pronoun's gender that are one word piece each
(:mod:`~gapstack.members.masked_lm.name_substitution`), and the pronoun is masked. The log probabilities of both names
at the mask, and of all other words together, are averaged over several pairs of names in both orders, so that the
names themselves cancel out. A multinomial logistic regression over these three and the distance of the first two is
fitted on the training rows; its weights for A and B are tied, so swapping the names swaps the probabilities.

An encoder with a masked-LM head of its own is used as it is, in float32: only the regression is fitted.

An encoder without one, such as the embedded MiniLM, first gets BERT's head with the input embeddings as decoder. Head
and layers are trained on unlabelled texts that name A or B again: names are substituted, a later mention is masked,
and its name is the target. After training on random and repeated words of 3,000 snippets of stage 2 instead, the
likelier name was right in 57% of the 400 first development rows (those with an answer), and the regression, over five
folds of these, had a logloss of .980, no better than the class prior (.974). After 4,000 masked names it was 65%, and
.927. Writing "[MASK]'s" for "his" changed nothing (66%, .926) and is not done. Those names were mostly the text's
first, and it was this that had been learned: with first and second names balanced, as they are now, the likelier name
is right in 50.5% of the rows of development and validation that have an answer, and the logloss over five folds .959.

The texts are stage 2's (no page of GAP is among them; 4,698 masked names, one training for all folds), or the rows
given to ``fit`` (1,024 masked names in GAP development). Or they are rows that a teacher has answered, whose pronoun is
masked: after two epochs over 11,009 of them the regression's logloss over five folds is .607 (docs/strength.md). The
saved state says which (``learned_from``).

It cannot memorise rows: the regression has four inputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Example, sources
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import MENTIONS, PieceView, align
from gapstack.errors import MemberError
from gapstack.files import fingerprint
from gapstack.kinds import Count, Leaves, Plan, Positive, Seed
from gapstack.members.masked_lm.language_model import LanguageModel, TiedHead, has_own_head, with_own_head
from gapstack.members.masked_lm.name_substitution import (
    COMMON_NAMES,
    masked_name_examples,
    masked_pronoun_examples,
    single_pieces,
    substitute_names,
    unused,
)
from gapstack.members.member import Probabilities, State, each_once
from gapstack.members.parts.encoder_member import EncoderMember
from gapstack.members.parts.equivariant_logistic import SwapEquivariantLogistic
from gapstack.members.parts.fine_tuned import compact
from gapstack.members.parts.learner import Lessons
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
from gapstack.types import Floats

PUBLISHED: dict[str, Any] = {"encoder": "bert-base-uncased"}
"""An encoder with a masked-LM head of its own: ``create("masked_lm", **PUBLISHED)``. Which one the authors used, and
with what settings, is not known."""

GIVEN: Final = "given"
STAGE2: Final = "stage2"
TAUGHT: Final = "taught"
FEATURES = ("log_p_a", "log_p_b", "log_p_rest", "gap")
"""Inputs of the regression: mean log probabilities, and the absolute difference of the first two."""
_MIRROR = (1, 0, 2, 3)


class MaskedLM(EncoderMember):
    """A masked language model's preference between two common names in the pronoun's place.

    Parameters
    ----------
    encoder : str, optional
        Name or folder; the embedded MiniLM by default. Its vocabulary must have a mask.
    pairs : int
        Most pairs of names for each row, each in both orders: 2 * ``pairs`` passes for a row.
    names : mapping of gender to sequence of str, optional
        First names to choose from; by default
        :data:`~gapstack.members.masked_lm.name_substitution.COMMON_NAMES`. Those of more than one piece are left out.
    texts : str
        What an encoder without a masked-LM head learns one from. Texts without labels: ``stage2``, the rows of Kaggle's
        second stage, or ``given``, the rows given to ``fit``. Or ``taught``, the rows of ``extra`` and ``teacher``: the
        name that they have for the pronoun is the target in its place.
    masked_examples : int
        Most texts with a mask to make of these.
    training : mapping, optional
        Fields of that training's plan that differ from :attr:`PLAN`; its ``precision`` holds for prediction too.
    strength : float
        Inverse of the regression's L2 penalty, scikit-learn's ``C``.
    max_pieces : int, optional
        Longest window in pieces; by default the encoder's limit.
    seed : int
        Of the head's initial weights, dropout, and the choice and order of masked examples.

    Raises
    ------
    MemberError
        If a setting is out of range, the encoder has no mask or fewer than two of a gender's names, no text names
        anybody twice or is ``taught`` though it should, or the mentions of a text do not fit into the window.
    DataNotFoundError
        If ``texts`` is ``stage2`` and those rows are not available.
    """

    pairs: Count = 2
    names: Mapping[str, Sequence[str]] | None = None
    texts: Literal["given", "stage2", "taught"] = STAGE2
    masked_examples: Leaves = 4000
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
        """Stage 2, if its texts are trained on, though without labels."""
        learns = not has_own_head(self._encoder())
        return each_once(super().contaminated_by, ("gap-stage2",) if learns and self.texts == STAGE2 else ())

    def reads(self) -> dict[str, Any]:
        """Leave the texts out unless they are trained on."""
        learns = self.texts == STAGE2 and not has_own_head(self._encoder())
        return super().reads() | ({} if learns else {"texts": False})

    def _plan(self) -> TrainingPlan:
        return replace(self.PLAN.changed(dict(self.training or {})), seed=self.seed)

    def _learn(self, lessons: Lessons) -> None:
        encoder = self._encoder()
        learns = not has_own_head(encoder)
        # it would be surer of the rows that its head has learned than of others
        read = lessons.take(np.arange(lessons.gold)) if learns and self.texts == TAUGHT else lessons
        self._substituted(read.corpus, encoder)  # texts that do not fit are refused before training
        arrays: dict[str, NDArray[Any]] = {}
        learned_from = "nothing: its own masked-LM head"
        if learns:
            arrays, learned_from = self._learn_head(lessons, encoder)
        self._take(encoder, State(arrays, values={"learned_from": learned_from}))
        rows, classes, weights = read.as_classes()
        self.regression_ = self._regression().fit(self._features(read.corpus)[rows], classes, weights)

    def _learn_head(self, lessons: Lessons, encoder: Encoder) -> tuple[dict[str, NDArray[Any]], str]:
        """Train a tied head and the layers beneath it on masked names; give the tensors, and what they learned from."""
        plan, model = self._plan(), self._fresh(encoder)
        examples, targets, learned_from = self._masked_examples(lessons, encoder)
        view = align(examples, encoder, self.max_pieces)
        train_once(model, PieceData(view, np.array(targets), {"at": _masked(view)}), plan)
        freeze(model, plan.frozen)
        learned = {name: compact(name, p) for name, p in model.named_parameters() if p.requires_grad}
        return learned, learned_from

    def _masked_examples(self, lessons: Lessons, encoder: Encoder) -> tuple[Corpus, list[int], str]:
        """Texts with a mask in a name's or the pronoun's place, ids of the names, and where they are from."""
        make: Callable[..., tuple[Corpus, list[int]]]
        if self.texts == TAUGHT:
            rows = np.arange(lessons.gold, len(lessons))
            texts, make = lessons.corpus.take(rows), partial(masked_pronoun_examples, lessons.targets[rows])
            title, kind, lacks = "extra and teacher", "with answers", "has A or B for an answer"
        else:
            texts, make = lessons.corpus if self.texts == GIVEN else sources.stage2(), masked_name_examples
            title, kind, lacks = texts.name, "without labels", "names A and B and then either again"
        names = {gender: self._names(encoder, gender) for gender in set(texts.genders)}
        found, targets = make(texts, names, _mask(encoder), self.masked_examples, self.seed)
        if not len(found):
            raise MemberError(
                f"no text of {title} {lacks}, so encoder {encoder.name}, which has no masked-LM head, cannot learn one "
                "from them; give more rows, texts='stage2', or another encoder"
            )
        return found, targets, f"{len(found)} masked names in {title}, {len(texts)} texts {kind}"

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

    def _substituted(self, corpus: Corpus, encoder: Encoder) -> tuple[PieceData, NDArray[np.int64]]:
        """Give every row with every pair of names in both orders, and the number of the row that each copy is of."""
        mask = _mask(encoder)
        ids = {gender: self._names(encoder, gender) for gender in dict.fromkeys(corpus.genders)}
        copies: list[Example] = []
        words: list[tuple[int, int]] = []
        owners: list[int] = []
        for row, example in enumerate(corpus):
            of_name = ids[example.gender]
            free = unused(example.text, list(of_name))
            for one, other in list(zip(free[::2], free[1::2], strict=False))[: self.pairs]:
                for a, b in ((one, other), (other, one)):
                    copy = substitute_names(example, a, b, mask)
                    copies.append(replace(copy, id=f"{example.id} as {a}, {b}"))
                    words.append((of_name[a], of_name[b]))
                    owners.append(row)
        view = align(Corpus(copies), encoder, self.max_pieces)
        return PieceData(view, None, {"at": _masked(view), "words": np.array(words)}), np.array(owners)

    def _features(self, corpus: Corpus) -> Floats:
        """Give :data:`FEATURES` of each row, (n, 4); results of this model are kept in memory."""
        encoder = self._encoder()
        decides = fingerprint(self.model_key_, self.pairs, self.names, self.max_pieces)

        def compute(rows: list[int]) -> Floats:
            data, owners = self._substituted(corpus.take(rows), encoder)
            precision = "float32" if has_own_head(encoder) else self._plan().precision
            log_p = predict(self.model_, data, precision=precision)
            sums = np.zeros((len(rows), log_p.shape[1]))
            np.add.at(sums, owners, log_p)
            return sums / np.bincount(owners)[:, None]

        means = np.array(_read.fetch([row_key(example, decides) for example in corpus], compute))
        return np.column_stack([means, np.abs(means[:, 0] - means[:, 1])])

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return self.regression_.predict_proba(self._features(corpus))

    def _regression(self) -> SwapEquivariantLogistic:
        return SwapEquivariantLogistic(_MIRROR, strength=self.strength)

    def _take(self, encoder: Encoder, state: State) -> None:
        """Use the weights as they are stored, so that a saved member predicts the same."""
        self.model_ = self._fresh(encoder)
        self.model_.load_state_dict({n: torch.from_numpy(a) for n, a in state.arrays.items()}, strict=False)
        self.model_arrays_, self.values_ = state.arrays, state.values
        hashes = {
            name: hashlib.blake2b(array.tobytes(), digest_size=8).hexdigest()
            for name, array in state.arrays.items()
        }
        self.model_key_ = fingerprint(encoder.fingerprint, hashes, self._plan().precision)

    def _state(self) -> State:
        return self.regression_.added_to(State(self.model_arrays_, values=self.values_))

    def _restore(self, state: State) -> None:
        self.regression_ = self._regression()
        self._take(self._encoder(), self.regression_.taken_from(state))


_read: Memory[Floats] = Memory(100_000)  # about 20 MB
"""Mean log probabilities, (3,), by row and model: folds with the same model compute each row once."""


def _mask(encoder: Encoder) -> str:
    mask: str | None = encoder.tokenizer.mask_token
    if mask is None:
        raise MemberError(
            f"encoder {encoder.name} has no mask among its pieces; use one trained to fill masks"
        )
    return mask


def _masked(view: PieceView) -> NDArray[np.int64]:
    """Positions (n,) of the masks in the pronouns' place."""
    return view.mentions[:, MENTIONS.index("pronoun"), 0]
