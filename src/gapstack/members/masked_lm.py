"""Masked LM: log probabilities of two common names in the pronoun's place, calibrated.

Lois, Fonollosa and Costa-jussa 2019, *BERT Masked Language Modeling for Co-reference Resolution*; 46th place. Code and
settings were not found, so this is a reconstruction. A and B become common first names of the pronoun's gender that are
one word piece each (:mod:`~gapstack.members.name_substitution`), and the pronoun is masked. The log probabilities of
both names at the mask, and of all other words together, are averaged over several pairs of names in both orders. A
multinomial logistic regression over these three and the distance of the first two is fitted on the training rows,
equivariant to swapping A and B.

An encoder with a masked-LM head of its own is used in float32: only the regression is fitted. An encoder without one,
such as the embedded MiniLM, first gets BERT's head with the input embeddings as decoder. Head and layers are trained on
unlabelled texts (``texts``) that name A or B again: names are substituted, a later mention is masked, and its name is
the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gapstack.cache import Memory, row_key
from gapstack.data import Corpus, gap_data, sources
from gapstack.encoding.encoders import Encoder, EncoderName, load_encoder
from gapstack.encoding.frozen import read_states
from gapstack.encoding.pieces import MENTIONS, PieceView, align
from gapstack.errors import MemberError
from gapstack.files import digest, fingerprint
from gapstack.members.added_pieces import mask_token
from gapstack.members.estimators import fit_symmetric_logistic, logistic_probabilities
from gapstack.members.fine_tuned import ON_GAP, compact
from gapstack.members.layers import initialise_like_bert
from gapstack.members.learned_state import State
from gapstack.members.name_substitution import (
    COMMON_NAMES,
    masked_texts,
    single_pieces,
    substitute_names,
    unused,
)
from gapstack.members.soft_labels import SoftLabelMember, TrainingSet
from gapstack.settings import AtLeastTwo, Count, Positive, ReadInput, Reads, Seed
from gapstack.training import PieceData, TrainingPlan, predict, seeded, train_once, trainable_encoder
from gapstack.training.parameters import freeze
from gapstack.training.plan import Plan
from gapstack.types import Floats, Ints, Probabilities

FEATURES = ("log_p_a", "log_p_b", "log_p_rest", "gap")
"""Inputs of the regression: mean log probabilities, and the absolute difference of the first two."""
_TEXTS = Reads(
    lambda name: f"{name} {digest(sources.require(name))[:16]}" if name == "stage2" else "",
    by_content=False,
    in_training=True,
    contaminates=lambda name: ("gap-stage2",) if name == "stage2" else (),
)
_MIRROR = (1, 0, 2, 3)


class MaskedLM(SoftLabelMember):
    """A masked language model's preference between two common names in the pronoun's place.

    The encoder's vocabulary must have a mask.
    """

    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    pairs: Count = 2
    """Most pairs of names for each row, each in both orders: 2 * ``pairs`` passes for a row."""
    names: Mapping[str, Sequence[str]] | None = None
    """First names by gender, if of one piece; by default :data:`~gapstack.members.name_substitution.COMMON_NAMES`."""
    texts: Annotated[Literal["given", "stage2", "distilled"], _TEXTS] = "stage2"
    """What an encoder without a masked-LM head learns one from: unlabelled texts, ``stage2`` or those ``given`` to
    ``fit``; or ``distilled``, rows of ``extra`` and ``teacher``, whose answer is the target in the pronoun's place."""
    masked_examples: AtLeastTwo = 4000
    """Most texts with a mask to make of these."""
    training: Plan | None = None
    """Changes of that training's :attr:`PLAN`; its ``precision`` holds for prediction too."""
    strength: Positive = 1.0
    """Inverse of the regression's L2 penalty, scikit-learn's ``C``."""
    max_pieces: Count | None = None
    """Longest window in pieces; by default the encoder's limit."""
    seed: Seed = 0
    """Seed of the head's initial weights, dropout, and the choice and order of masked examples."""

    PUBLISHED: ClassVar[dict[str, Any]] = {"encoder": "bert-base-uncased"}
    """An encoder with a masked-LM head of its own. The authors' encoder and settings are not known."""
    PLAN = ON_GAP.changed({"epochs": 1, "encoder_lr": 2e-4, "head_lr": 2e-3, "label_smoothing": 0.0})
    LEARNED = ("regression", "learned_from")

    def reads(self) -> dict[str, ReadInput]:
        """Leave the texts out unless they are trained on."""
        reads = super().reads()
        if self.texts != "stage2" or has_own_head(load_encoder(self.encoder)):
            del reads["texts"]
        return reads

    def _plan(self) -> TrainingPlan:
        return replace(self.PLAN.changed(dict(self.training or {})), seed=self.seed)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        encoder = load_encoder(self.encoder)
        read = training_set
        if has_own_head(encoder):
            self.learned_from_ = "nothing: its own masked-LM head"
            self.arrays_: dict[str, NDArray[Any]] = {}
            self._load_model()
        else:
            if self.texts == "distilled":
                # the regression would be surer of the rows that the head has learned
                read = training_set.take(np.arange(training_set.gold))
            self._substituted(read.corpus, encoder)  # texts that do not fit are refused before training
            self._learn_head(training_set, encoder)
        rows, classes, weights = read.as_classes()
        features = self._features(read.corpus)[rows]
        self.regression_ = fit_symmetric_logistic(
            features, classes, _MIRROR, weights=weights, strength=self.strength
        )

    def _learn_head(self, training_set: TrainingSet, encoder: Encoder) -> None:
        """Train a tied head and layers on masked names."""
        plan, model = self._plan(), self._fresh(encoder)
        texts, kind = gap_data.stage2() if self.texts == "stage2" else training_set.corpus, "without labels"
        title, lacks, answers = texts.name, "names A and B and then either again", None
        if self.texts == "distilled":
            rows = np.arange(training_set.gold, len(training_set))
            texts, answers = texts.take(rows), training_set.targets[rows]
            title, kind, lacks = "extra and teacher", "with answers", "has A or B for an answer"
        names, most = self._names(encoder, texts), self.masked_examples
        examples, targets = masked_texts(texts, names, mask_token(encoder), most, self.seed, answers)
        if not targets:
            raise MemberError(
                f"no text of {title} {lacks}, so encoder {encoder.name}, which has no masked-LM head, cannot learn one "
                "from them; give more rows, texts='stage2', or another encoder"
            )
        view = align(examples, encoder, self.max_pieces)
        train_once(model, PieceData(view, np.array(targets), {"at": _masked(view)}), [plan])
        freeze(model, tuple(plan.frozen))
        self.learned_from_ = f"{len(targets)} masked names in {title}, {len(texts)} texts {kind}"
        self.arrays_ = {name: compact(name, p) for name, p in model.named_parameters() if p.requires_grad}
        self._load_model()

    def _fresh(self, encoder: Encoder) -> LanguageModel:
        pretrained = with_own_head(encoder)
        if pretrained is not None:
            return LanguageModel(pretrained)
        with seeded(self.seed):
            body = trainable_encoder(encoder, self._plan())
            embeddings: Tensor = body.get_input_embeddings().weight  # type: ignore[operator]
            head = TiedHead(encoder.hidden_size, *embeddings.shape)
            return LanguageModel(body, head)

    def _names(self, encoder: Encoder, texts: Corpus) -> dict[str, dict[str, int]]:
        """Names of one piece with their ids, for each gender of the texts."""
        listed = COMMON_NAMES if self.names is None else self.names
        return {gender: single_pieces(encoder, listed, gender) for gender in dict.fromkeys(texts.genders)}

    def _substituted(self, corpus: Corpus, encoder: Encoder) -> tuple[PieceData, Ints]:
        """Every row with every pair of names in both orders, and the row number of each copy."""
        mask, ids = mask_token(encoder), self._names(encoder, corpus)
        copies, words, owners = [], [], []
        for row, example in enumerate(corpus):
            of_name = ids[example.gender]
            free = unused(example.text, list(of_name))
            for pair in list(zip(free[::2], free[1::2], strict=False))[: self.pairs]:
                for a, b in (pair, pair[::-1]):
                    copy = substitute_names(example, a, b, mask)
                    copies.append(replace(copy, id=f"{example.id} as {a}, {b}"))
                    words.append((of_name[a], of_name[b]))
                    owners.append(row)
        view = align(Corpus(copies), encoder, self.max_pieces)
        return PieceData(view, None, {"at": _masked(view), "words": np.array(words)}), np.array(owners)

    def _features(self, corpus: Corpus) -> Floats:
        """:data:`FEATURES` of each row, (n, 4); results of this model are kept in memory."""
        encoder = load_encoder(self.encoder)
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
        return logistic_probabilities(self.regression_, self._features(corpus))

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._load_model()

    def _load_model(self) -> None:
        """Load the weights as they are stored, so that a saved member predicts the same."""
        arrays = self.arrays_
        encoder = load_encoder(self.encoder)
        self.model_ = self._fresh(encoder)
        self.model_.load_state_dict({n: torch.from_numpy(a) for n, a in arrays.items()}, strict=False)
        self.model_key_ = fingerprint(encoder.fingerprint, State(dict(arrays)).digest, self._plan().precision)


_read: Memory[Floats] = Memory(100_000)  # about 20 MB
"""Mean log probabilities, (3,), by row and model: folds with the same model compute each row once."""


def _masked(view: PieceView) -> Ints:
    """Positions (n,) of the masks in the pronouns' place."""
    return view.mentions[:, MENTIONS.index("pronoun"), 0]


class LanguageModel(nn.Module):
    """An encoder of transformers with its own masked-LM head, or with ``head``."""

    def __init__(self, encoder: nn.Module, head: TiedHead | None = None):
        super().__init__()
        self.encoder = encoder
        self.head = head

    def forward(
        self, ids: Tensor, at: Tensor, keep: Tensor | None = None, words: Tensor | None = None, **_: Tensor
    ) -> Tensor:
        """Logits (b, V) at positions ``at``; with ``words`` (b, w), log probabilities (b, w + 1), of others last."""
        rows = torch.arange(len(ids), device=ids.device)
        if self.head is None:
            logits = self._own_logits(ids, keep, rows, at)
        else:
            embeddings: Tensor = self.encoder.get_input_embeddings().weight  # type: ignore[operator]
            hidden = read_states(self.encoder, ids, keep).last
            logits = self.head(hidden[rows, at].float(), embeddings.float())
        if words is None:
            return logits
        log_p = logits.log_softmax(dim=-1)  # float32: MPS has no float64
        others = log_p.scatter(1, words, -torch.inf).logsumexp(dim=-1, keepdim=True)
        return torch.cat([log_p.gather(1, words), others], dim=-1)

    def _own_logits(self, ids: Tensor, keep: Tensor | None, rows: Tensor, at: Tensor) -> Tensor:
        """Logits (b, V) of the encoder's own head, which is given the states at ``at`` alone: V is large."""

        def only_there(_: nn.Module, __: object, output: Any) -> Any:
            output.last_hidden_state = output.last_hidden_state[rows, at][:, None]
            return output

        body: Any = self.encoder.base_model
        hook = body.register_forward_hook(only_there)
        try:
            mask = None if keep is None else keep.long()
            return self.encoder(input_ids=ids, attention_mask=mask).logits[:, 0].float()
        finally:
            hook.remove()


class TiedHead(nn.Module):
    """BERT's masked-LM head (Devlin et al. 2019): dense, GELU, layer norm, and the input embeddings as decoder."""

    def __init__(self, width: int, vocabulary: int, embedding: int):
        super().__init__()
        self.dense = nn.Linear(width, embedding)
        self.norm = nn.LayerNorm(embedding)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        initialise_like_bert(self.dense)

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        """Logits (..., V) from hidden states (..., H) and embeddings (V, E)."""
        return functional.linear(self.norm(functional.gelu(self.dense(hidden))), embeddings, self.bias)


def has_own_head(encoder: Encoder) -> bool:
    """Return True if the encoder's configuration says that its files hold its masked-LM head."""
    # what ELECTRA and Funnel pre-train finds replaced words, and fills no mask
    return any(
        name.endswith(("ForMaskedLM", "ForPreTraining")) and not name.startswith(("Electra", "Funnel"))
        for name in encoder.config.architectures or []
    )


def with_own_head(encoder: Encoder) -> nn.Module | None:
    """Load an encoder with its own masked-LM head, None if it has none; MemberError if its weights lack it."""
    from transformers import AutoModelForMaskedLM

    return encoder.load_with(AutoModelForMaskedLM).eval() if has_own_head(encoder) else None
