"""A trial of an encoder before any training: what it is, which members work with it, seconds and memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from gapstack.data import Corpus, Example, Label, sources
from gapstack.encoding.activations import span_activations
from gapstack.encoding.encoders import load_encoder
from gapstack.errors import GapstackError
from gapstack.files import scratch_cache
from gapstack.members import MEMBERS
from gapstack.progress import progress
from gapstack.settings import settings_of
from gapstack.training.plan import TrainingPlan, for_size

_ROWS = 8  # of each kind
# settings of a quick fit, of those that a member has
_QUICK: dict[str, Any] = {
    "training": {"epochs": 1, "batch_size": 8},
    "epochs": 1,
    "seeds": 1,
    "trees": 5,
    "max_pieces": 128,
    "window": 48,
    "pairs": 1,
    "masked_examples": 16,
    "texts": "given",
    "calibration_share": 0.5,
    "validation_share": 0.5,
}
_BYTES_FROZEN, _BYTES_TUNED = 4, 16  # float32 weights; with gradients and two moments


@dataclass(frozen=True)
class EncoderCheck:
    """What an encoder is, its cost on this machine, and why members refuse it ("" if they work)."""

    name: str
    model_type: str
    parameters: int
    layers: int
    width: int
    longest: int
    """Word pieces of the longest text."""
    is_causal: bool
    learning_rate: float
    """Of its layers, by default, in fine-tuning."""
    rows_per_second: float
    """Of a frozen pass over short snippets."""
    frozen_memory: int
    tuned_memory: int
    """Bytes of weights alone, and with gradients and the optimizer's state."""
    members: dict[str, str]

    def record(self) -> dict[str, Any]:
        """For ``json.dumps``."""
        return asdict(self)


def check_encoder(name: str) -> EncoderCheck:
    """Encode short rows of the embedded sample, and fit each member that reads an encoder on them.

    Raises DataNotFoundError if the encoder does not exist; MemberError if none of its files can be used.
    """
    encoder = load_encoder(name)
    rows = trial_rows()
    with scratch_cache():
        encoder.model  # noqa: B018 the time to load it does not count
        start = perf_counter()
        span_activations(rows, encoder, (encoder.num_layers,))
        seconds = perf_counter() - start
        members = {}
        tried = _tried()
        with progress("trying members", len(tried)) as ticker:
            for member in tried:
                members[member] = _refusal(member, name, rows)
                ticker.advance(1)
    parameters = encoder.size.parameters
    return EncoderCheck(
        encoder.name,
        encoder.config.model_type,
        parameters,
        encoder.num_layers,
        encoder.hidden_size,
        encoder.max_pieces,
        encoder.is_causal,
        for_size(TrainingPlan(), parameters).encoder_lr,
        len(rows) / seconds,
        _BYTES_FROZEN * parameters,
        _BYTES_TUNED * parameters,
        members,
    )


def _tried() -> list[str]:
    """Members that read an encoder."""
    return [member for member in MEMBERS if "encoder" in settings_of(MEMBERS[member])]


def trial_rows() -> Corpus:
    """The shortest rows of the sample with each label, and one that names both people twice (for masked_lm)."""
    by_length = sorted(sources.sample()["train"], key=lambda row: len(row.text))
    rows = [row for label in Label for row in [own for own in by_length if own.label is label][:_ROWS]]
    text = "Kate met Mary in town. Later Mary said that she was late, and Kate left."
    twice = Example.from_text(text, "she", "Kate", "Mary", id="twice", label=Label.B)
    return Corpus([*rows, twice], label_set="official")


def _refusal(member: str, encoder: str, rows: Corpus) -> str:
    """Why a member cannot be fitted and predict with an encoder, or ""."""
    known = settings_of(MEMBERS[member])
    settings = {key: value for key, value in _QUICK.items() if key in known}
    try:
        MEMBERS.create(member, encoder=encoder, **settings).fit(rows).predict_proba(rows)
    except GapstackError as refusal:
        return str(refusal)
    return ""
