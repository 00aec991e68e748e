"""Recipes on another encoder than that of their settings, and a check of an encoder before training.

Layers that are read or frozen move to the same relative depth of the new encoder. Learning rates and epochs of phases
that train an encoder of another size class (small, base, large, huge; see :mod:`gapstack.training.plan`) are replaced
by the member's defaults for that class.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from time import perf_counter
from typing import Any

from gapstack.data import Corpus, Example, Label, gap_data
from gapstack.encoding.activations import span_activations
from gapstack.encoding.encoder_files import EMBEDDED, is_embedded
from gapstack.encoding.encoders import EncoderSize, encoder_size, load_encoder
from gapstack.errors import GapstackError
from gapstack.files import fingerprint, scratch_cache
from gapstack.members import MEMBERS, create
from gapstack.members.part import Part
from gapstack.progress import progress
from gapstack.runs.recipe import Recipe
from gapstack.settings import settings_of
from gapstack.training.plan import TrainingPlan, for_size, size_class

_FIRST = TrainingPlan(encoder_lr=1e-4)
"""Learning rate of a small encoder's layers in the first phase, for which members have no default."""

_PACE = {"epochs", "batch_size", "encoder_lr", "head_lr", "schedule", "patience", "evaluate_every"}


def on_encoder(recipe: Recipe, encoder: str | None) -> tuple[Recipe, list[str]]:
    """Return a recipe on ``encoder`` (None: the embedded one), and a line for each difference from the paper.

    Members that differed only in their encoder become one, whose weight in a weighted mean is the sum of theirs.
    """
    size = load_encoder(encoder).size
    changed, replaced, parts = Counter[str](), set(), []
    for part in recipe.members:
        if "encoder" not in settings_of(MEMBERS[part.name]):
            parts.append(part)
            continue
        old, settings, label = part.settings.get("encoder"), {**part.settings, "encoder": encoder}, part.label
        if old is not None and old != encoder:
            name, before = Path(old).name, encoder_size(old)
            replaced.add(name)
            label = label.removesuffix(f"_{name}").replace(f"_{name}_", "_")
            if second := settings.pop("second_encoder", None):
                replaced.add(Path(second).name)
            if before is not None and before != size:
                settings, what = _rescaled(settings, before, size)
                changed.update(what)
        parts.append(Part(part.name, label, settings))
    if not replaced:
        return replace(recipe, members=tuple(parts)), []
    groups: dict[str, list[int]] = {}
    for number, part in enumerate(parts):
        groups.setdefault(fingerprint(part.name, part.settings), []).append(number)
    name, numbers = EMBEDDED if is_embedded(encoder) else Path(str(encoder)).name, list(groups.values())
    scaled = replace(
        recipe,
        name=f"{recipe.name}-{name}",
        title=f"{recipe.title}, on {name}",
        members=tuple(_with_unique_labels([parts[first] for first, *_ in numbers])),
        stackers=recipe.stackers_of(numbers),
    )
    lines = [
        f"No longer the paper's: {name} ({size.layers} layers, {size.parameters / 1e6:.0f} million parameters) in "
        f"place of {', '.join(sorted(replaced))}",
        *(f"{what} ({times} of {len(parts)} members)" for what, times in changed.items()),
    ]
    if len(groups) < len(parts):
        lines.append(
            f"{len(groups)} members of {len(parts)}: those that differed only in their encoder are one"
        )
    return scaled, lines


def _with_unique_labels(parts: Sequence[Part]) -> list[Part]:
    """Number the labels that differed only in the name of an encoder: ``wide``, ``wide_2``."""
    unique: list[Part] = []
    for part in parts:
        labels = chain([part.label], (f"{part.label}_{number}" for number in count(2)))
        taken = {other.label for other in unique}
        unique.append(replace(part, label=next(label for label in labels if label not in taken)))
    return unique


def _rescaled(
    settings: Mapping[str, Any], old: EncoderSize, new: EncoderSize
) -> tuple[dict[str, Any], list[str]]:
    """Adapt settings from one encoder to another; also describes the changes."""
    scaled, changed = dict(settings), []
    if old.layers != new.layers:
        for key, kinds in (("layer", int), ("layers", list), ("attention_layers", int | list)):
            if isinstance(settings.get(key), kinds):
                scaled[key] = at_same_depth(settings[key], old.layers, new.layers)
                changed.append(
                    f"{key} {settings[key]} of {old.layers} layers: now {scaled[key]} of {new.layers}"
                )
    for key in ("training", "pretraining"):
        if phases := settings.get(key):
            several = phases if isinstance(phases, list) else [phases]
            adapted = [_phase(phase, old, new, first=key == "pretraining") for phase in several]
            scaled[key] = adapted if isinstance(phases, list) else adapted[0]
            if scaled[key] != phases:
                changed.append(
                    "rates, epochs, early stopping and frozen layers: now those for its size and depth"
                )
    return scaled, list(dict.fromkeys(changed))


def at_same_depth(value: int | Sequence[int], depth: int, layers: int) -> Any:
    """Map a layer, or several without repetition, to the same relative depth; -1 is the last, 0 the embeddings."""
    if isinstance(value, int):
        return round((value if value >= 0 else depth + 1 + value) / depth * layers)
    return list(dict.fromkeys(at_same_depth(layer, depth, layers) for layer in value))


def _phase(plan: Mapping[str, Any], old: EncoderSize, new: EncoderSize, *, first: bool) -> dict[str, Any]:
    """Adapt one phase of training; only phases that train the encoder change."""
    if "encoder_lr" not in plan:
        return dict(plan)
    is_alike = size_class(old.parameters) == size_class(new.parameters)
    dropped = {"frozen"} if first or is_alike else {"frozen", *_PACE}
    phase = {key: value for key, value in plan.items() if key not in dropped}
    if first and not is_alike:
        phase["encoder_lr"] = for_size(_FIRST, new.parameters).encoder_lr
    if plan.get("frozen"):  # without it, members freeze the embeddings
        phase["frozen"] = _frozen(plan["frozen"], old.layers, new.layers)
    elif is_alike and "frozen" in plan:
        phase["frozen"] = []
    return phase


def _frozen(parts: Sequence[int | str], depth: int, layers: int) -> list[int | str]:
    """Adapt frozen parts so that the trained layers keep their relative depth."""
    trained = [number for number in range(1, depth + 1) if number not in parts]
    if len(trained) == depth:
        return [*parts]
    frozen = [number for number in range(1, layers + 1) if round(number / layers * depth) not in trained]
    if len(frozen) == layers:  # a single trained layer between two of these
        frozen = [number for number in frozen if number not in at_same_depth(trained, depth, layers)]
    return [*([0] if 0 in parts else []), *frozen, *(part for part in parts if isinstance(part, str))]


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


@dataclass(frozen=True)
class EncoderCheck:
    """Facts about an encoder, its cost on this machine, and by member the reason for a refusal ("" if it works)."""

    name: str
    model_type: str
    parameters: int
    layers: int
    width: int
    longest: int
    """Maximum number of word pieces of a text."""
    is_causal: bool
    learning_rate: float
    """Default learning rate of its layers in fine-tuning."""
    rows_per_second: float
    """Speed of a frozen pass over short snippets."""
    frozen_memory: int
    """Bytes of the weights."""
    tuned_memory: int
    """Bytes of the weights, their gradients and the optimizer's state."""
    members: dict[str, str]


def check_encoder(name: str) -> EncoderCheck:
    """Encode short rows of the embedded sample, and fit every member that reads an encoder on them."""
    encoder = load_encoder(name)
    rows = trial_rows()
    with scratch_cache():
        encoder.model  # noqa: B018 loaded before the clock starts
        start = perf_counter()
        span_activations(rows, encoder, (encoder.num_layers,))
        seconds = perf_counter() - start
        members, tried = {}, members_with_encoder()
        with progress("trying members", len(tried)) as ticker:
            for member in tried:
                members[member] = _refusal(member, name, rows)
                ticker.advance()
    parameters = encoder.size.parameters
    return EncoderCheck(
        name=encoder.name,
        model_type=encoder.config.model_type,
        parameters=parameters,
        layers=encoder.num_layers,
        width=encoder.hidden_size,
        longest=encoder.max_pieces,
        is_causal=encoder.is_causal,
        learning_rate=for_size(TrainingPlan(), parameters).encoder_lr,
        rows_per_second=len(rows) / seconds,
        frozen_memory=4 * parameters,  # float32 weights
        tuned_memory=16 * parameters,  # with gradients and two moments
        members=members,
    )


def members_with_encoder() -> list[str]:
    """Names of the members that read an encoder."""
    return [member for member in MEMBERS if "encoder" in settings_of(MEMBERS[member])]


def trial_rows() -> Corpus:
    """The shortest rows of the sample for each label, and a row that names both people twice, which masked_lm needs."""
    by_length = sorted(gap_data.sample()["train"], key=lambda row: len(row.text))
    rows = [row for label in Label for row in [each for each in by_length if each.label is label][:8]]
    text = "Kate met Mary in town. Later Mary said that she was late, and Kate left."
    twice = Example.from_text(text, "she", "Kate", "Mary", id="twice", label=Label.B)
    return Corpus([*rows, twice], label_set="official")


def quick_settings(member: str) -> dict[str, Any]:
    """Settings for a quick fit, those that the member has."""
    known = settings_of(MEMBERS[member])
    return {key: deepcopy(value) for key, value in _QUICK.items() if key in known}


def _refusal(member: str, encoder: str, rows: Corpus) -> str:
    """Reason why a member cannot be fitted and predict with an encoder; "" if it can."""
    try:
        create(member, encoder=encoder, **quick_settings(member)).fit(rows).predict_proba(rows)
    except GapstackError as refusal:
        return str(refusal)
    return ""
