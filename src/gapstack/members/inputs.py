"""What a member reads beyond the rows that it is given, by contents: what its results are known by.

A setting names an encoder, a parser or a file; what lies under that name may change, and then results are others.
:data:`READS` says how each such setting becomes a digest of what it leads to now, whether it names it or leaves it to
a default or the environment. A member whose settings do not tell all says the rest in
:meth:`~gapstack.members.member.Member.reads`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gapstack.code import code_behind
from gapstack.corpus import sources
from gapstack.corpus.extra import EXTRA
from gapstack.corpus.teacher import teacher_files
from gapstack.corpus.word_lists import lists_key
from gapstack.encoding.encoders import load_encoder
from gapstack.errors import DataNotFoundError, MismatchError
from gapstack.features.blocks import needs_parses
from gapstack.files import digest, fingerprint, tree_digest
from gapstack.members import MEMBERS
from gapstack.members.member import Member
from gapstack.resolvers.recorded import cluster_files
from gapstack.text.parses import parser_key, parser_name
from gapstack.vectors.static_vectors import vectors_key

Identity = dict[str, str]
"""What decided a result, by name: each a digest, after the name of what it is of where that has one."""


def _encoder(name: str | None) -> str:
    encoder = load_encoder(name)
    return f"{Path(encoder.name).name} {encoder.fingerprint}"


def _parser(name: str | None) -> str:
    return f"{parser_name(name)} {parser_key(name)}"


def _vectors(source: str) -> str:
    return f"{Path(source).name} {vectors_key(source)}"


def _clusters(names: Sequence[str]) -> str:
    files = [file for name in names for file in cluster_files(name)]
    return f"{_named(names)} {_contents(files)}" if files else ""


def _teacher(teacher: str | Sequence[str] | None) -> str:
    if not teacher:
        return ""
    return f"{_named([teacher] if isinstance(teacher, str) else teacher)} {_contents(teacher_files(teacher))}"


def _extra(names: Sequence[str]) -> str:
    homes = {name: tree_digest(sources.require(EXTRA[name].dataset)) for name in names}
    return f"{_named(names)} {fingerprint(list(homes.items()))}" if homes else ""


def _debias(name: str) -> str:
    return f"wordlists {lists_key()}" if name else ""


def _texts(name: str) -> str:
    return f"{name} {digest(sources.require(name))[:16]}"


def _blocks(names: Sequence[str]) -> str:
    return _parser(None) if any(map(needs_parses, names)) else ""


BY_CONTENT: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {"encoder": _encoder, "parser": _parser, "vectors": _vectors, "clusters": _clusters, "teacher": _teacher}
)
"""Settings that decide by what they lead to alone: the same contents under another name give the same results."""
READS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {**BY_CONTENT, "extra": _extra, "debias": _debias, "texts": _texts, "blocks": _blocks}
)
"""By setting: the name and digest of what it has a member read; empty where that is nothing."""
_KNOWN_AS = {"debias": "word lists", "blocks": "parser"}
_LEARNED_FROM = frozenset({"teacher", "extra", "texts"})
"""What nobody needs any more who was fitted."""
_NOT_AT_HAND = "unknown"


def what_it_reads(member: Member, *, fitted: bool = False) -> Identity:
    """Resolve what a member reads, as it is set, to digests of what is there now.

    Parameters
    ----------
    member : Member
    fitted : bool
        What was learned from need not be at hand any more: answers do not need it.

    Raises
    ------
    GapstackError
        If something is not there or is not what it should be, as when the member itself reads it.
    """
    read = member.reads()
    found: Identity = {}
    for setting, resolve in READS.items():
        if read.get(setting, False) is not False:
            try:
                value = resolve(read[setting])
            except DataNotFoundError:
                if not (fitted and setting in _LEARNED_FROM):
                    raise
                value = _NOT_AT_HAND
            if value:
                found[_KNOWN_AS.get(setting, setting)] = value
    for label, part in member.parts().items():
        found |= {f"{label}.{key}": value for key, value in what_it_reads(part, fitted=fitted).items()}
    return found


@lru_cache(maxsize=64)
def code_fingerprint(member: str) -> str:
    """Hash of what all modules of the package do that a member's own module can reach, itself included.

    A member of another package goes by that package's name and version, and by what is behind every member.
    """
    entry = MEMBERS.entry(member)
    if entry.package:
        return fingerprint(entry.package, entry.target, code_behind("gapstack.members.member"))
    return code_behind(entry.target.partition(":")[0])


def identity_of(member: Member, *, fitted: bool = False) -> Identity:
    """What decides a member's results beside rows and folds; parameters and errors as :func:`what_it_reads`.

    Settings that count by what they lead to are not among the settings; a stack's members count one by one.
    """
    name, parts = MEMBERS.name_of(type(member)), member.parts()
    settings = {key: value for key, value in member.get_params().items() if key not in BY_CONTENT}
    if parts:
        settings["members"] = list(parts)
    identity = {
        "settings": fingerprint(name, settings),
        **what_it_reads(member, fitted=fitted),
        "code": code_fingerprint(name),
    }
    for label, part in parts.items():
        identity |= {f"{label}.{key}": value for key, value in identity_of(part, fitted=fitted).items()}
    return identity


def digests(identity: Mapping[str, str]) -> Identity:
    """An identity without names: what decides."""
    return {key: value.rpartition(" ")[2] for key, value in identity.items()}


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of what differs between two identities, in the order of the second."""
    old, new = digests(before), digests(now)
    return [key for key in {**new, **old} if old.get(key) != new.get(key)]


def refuse_changed(what: str, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Check that something that was fitted would be fitted with the same today.

    What only training read and is not at hand any more is passed over.

    Raises
    ------
    MismatchError
        If anything differs; says what, and what to do.
    """
    differing = [key for key in changes(before, now) if _NOT_AT_HAND not in (before.get(key), now.get(key))]
    if differing:
        told = ", ".join(
            f"{key} changed ({before.get(key, 'none')} there, {now.get(key, 'none')} now)"
            for key in differing
        )
        raise MismatchError(
            f"{what} would not answer as it did: since it was fitted {told}. Put back what it was fitted with, or fit "
            "it again: gap run does again what differs, and nothing else"
        )


def _named(names: Iterable[str]) -> str:
    return "+".join(Path(name).name for name in names)


def _contents(files: Sequence[Path]) -> str:
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise DataNotFoundError(f"there is no file {missing[0]}")
    return fingerprint([digest(file) for file in files])
