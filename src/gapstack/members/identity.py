"""What decides a stored result: data, settings, the contents of everything read, precision, versions and source.

A stored result carries this record, a mapping of names to digests. ``gap run`` recomputes results whose record differs.
Commands that use stored results refuse them if data, settings or inputs differ; for a difference in :data:`SOFT` they
log a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from gapstack.data import Corpus, sources
from gapstack.data.extra import EXTRA
from gapstack.data.folds import Folds
from gapstack.data.teacher import teacher_files
from gapstack.data.word_lists import lists_key
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.static_vectors import vectors_key
from gapstack.errors import DataNotFoundError, MismatchError
from gapstack.features.blocks import needs_parses
from gapstack.files import digest, fingerprint, tree_digest
from gapstack.members import MEMBERS
from gapstack.records import source_digest, versions
from gapstack.resolvers.align import cluster_files
from gapstack.text.parses import parser_key, parser_name

_log = logging.getLogger(__name__)

Identity = dict[str, str]
"""What decided a result: digests by name, each after the name of its source if that has one."""
SOFT = frozenset({"precision", "package", "source"})
"""Differences that do not prevent the use of a stored result."""
_TRAINING_ONLY = frozenset({"teacher", "extra", "texts"})
_MISSING = "missing"


def _encoder(name: str | None) -> str:
    encoder = load_encoder(name)
    return f"{Path(encoder.name).name} {encoder.fingerprint}"


def _parser(name: str | None) -> str:
    return f"{parser_name(name)} {parser_key(name)}"


def _files(names: str | Sequence[str] | None, find: Callable[[Any], Iterable[Path]]) -> str:
    if not names:
        return ""
    files = list(find(names))
    for file in files:
        if not file.is_file():
            raise DataNotFoundError(f"there is no file {file}")
    label = "+".join(Path(name).name for name in ([names] if isinstance(names, str) else names))
    return f"{label} {fingerprint([digest(file) for file in files])}"


def _extra(names: Sequence[str]) -> str:
    datasets = sorted({dataset for name in names for dataset in (EXTRA[name].dataset, *EXTRA[name].also)})
    digests = [tree_digest(sources.require(dataset)) for dataset in datasets]
    return f"{'+'.join(names)} {fingerprint(digests)}" if names else ""


BY_CONTENT: Mapping[str, Callable[[Any], str]] = {
    "encoder": _encoder,
    "parser": _parser,
    "vectors": lambda source: f"{Path(source).name} {vectors_key(source)}",
    "clusters": lambda names: _files(names, lambda each: chain.from_iterable(map(cluster_files, each))),
    "teacher": lambda names: _files(names, teacher_files),
}
"""Settings that count by the contents they lead to: the same contents under another name give the same results."""
READS: Mapping[str, Callable[[Any], str]] = {
    **BY_CONTENT,
    "extra": _extra,
    "debias": lambda name: f"wordlists {lists_key()}" if name else "",
    "texts": lambda name: f"{name} {digest(sources.require(name))[:16]}",
    "blocks": lambda names: _parser(None) if any(map(needs_parses, names)) else "",
}
"""By setting: name and digest of what it makes a member read; empty if that is nothing."""
_RECORDED_AS = {"debias": "word lists", "blocks": "parser"}


def inputs_of(member: Any, *, fitted: bool = False) -> Identity:
    """Digests of what a member and its parts read now, given their settings, and the precision of an encoder.

    ``fitted``: data that only training reads may be missing. Raises DataNotFoundError if anything else is.
    """
    found: Identity = {}
    read = member.reads()
    for setting, resolve in READS.items():
        if read.get(setting, False) is not False:
            try:
                value = resolve(read[setting])
            except DataNotFoundError:
                if not (fitted and setting in _TRAINING_ONLY):
                    raise
                value = _MISSING
            if value:
                found[_RECORDED_AS.get(setting, setting)] = value
    if "encoder" in found:
        from gapstack.encoding.frozen import computes_in  # imports torch, which rules do not need

        found["precision"] = str(computes_in()).removeprefix("torch.")
    for label, part in member.parts().items():
        found |= {f"{label}.{key}": value for key, value in inputs_of(part, fitted=fitted).items()}
    return found


def identity_of(member: Any, *, fitted: bool = False) -> Identity:
    """Everything that decides a member's results except rows and folds; ``fitted`` and errors as :func:`inputs_of`."""
    name, parts = MEMBERS.name_of(type(member)), member.parts()
    settings = {key: value for key, value in member.get_params().items() if key not in BY_CONTENT}
    if parts:
        settings["members"] = list(parts)
    identity = {"settings": fingerprint(name, settings), **inputs_of(member, fitted=fitted)}
    package = type(member).__module__.partition(".")[0]
    identity["package"] = MEMBERS.entry(name).package or f"gapstack {versions()['gapstack']}"
    own = () if package == "gapstack" else (package,)
    if source := source_digest(type(member), "gapstack.members", "gapstack.ensemble", *own):
        identity["source"] = source
    for label, part in parts.items():
        identity |= {f"{label}.{key}": value for key, value in identity_of(part, fitted=fitted).items()}
    return identity


def of_rows(train: Corpus, test: Corpus, folds: Folds) -> Identity:
    """Identity that all results of a run share."""
    return {
        "training rows": train.fingerprint,
        "labels": f"{train.label_set} {train.label_fingerprint}",
        "held-out rows": test.fingerprint,
        "folds": folds.fingerprint,
    }


def _digests(identity: Mapping[str, str]) -> Identity:
    return {key: value.rpartition(" ")[2] for key, value in identity.items()}


def key_of(identity: Mapping[str, str], *more: Any) -> str:
    """Hash of the digests of an identity, and of ``more``."""
    return fingerprint(_digests(identity), *more)


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of what differs between two identities."""
    old, new = _digests(before), _digests(now)
    return [key for key in {**new, **old} if old.get(key) != new.get(key)]


def refuse_changed(what: str, record: Mapping[str, Any], now: Mapping[str, str]) -> None:
    """Raise MismatchError if data, settings or inputs differ between a stored record and this process.

    ``record`` has ``identity`` and ``versions``. Logs one warning if only precision, versions or source differ. Data
    that only training read may be missing.
    """
    before = record["identity"]
    differing = [key for key in changes(before, now) if _MISSING not in (before.get(key), now.get(key))]
    hard = [key for key in differing if key.rpartition(".")[2] not in SOFT]
    if hard:
        found = ", ".join(f"{key} changed (was {before.get(key)}, now {now.get(key)})" for key in hard)
        raise MismatchError(
            f"{what} is stale: {found}. Restore the old inputs, or fit it again with gap run, "
            "which recomputes only what differs"
        )
    then = record.get("versions", {})
    newer = [f"{name} {then[name]}" for name, one in versions().items() if then.get(name, one) != one]
    if differing or newer:
        message = f"{what} was fitted with another version of {', '.join([*differing, *newer])}"
        if message not in _warned:
            _warned.add(message)
            _log.warning("%s; results may differ slightly", message)


_warned: set[str] = set()
"""Warnings of this process, each given once: a run has many folds."""
