"""The page that a snippet was taken from: its title, read off the URL, and how a name meets it.

The title is GAP's strongest single cue ("page context", Webster et al. 2018, section 4.3): a page is mostly
about its title, and a title that names a person is mostly who the pronoun means.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote, urlsplit

_QUALIFIED = re.compile(r"^(?P<title>.*\S)\s*\((?P<qualifier>[^()]*(?:\([^()]*\))?[^()]*)\)$")
_TOKEN = re.compile(r"[\w*]+(?:['\u2019][\w*]+)*")
# Unicode has no decomposition for these.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
    | {"\u2018": "'", "\u2019": "'"}
)
# Words that many names and titles share without being about the same person.
_PARTICLE_LIST = (
    "a an and the of in on at to for by de da do dos das del della der den des di du el la las le les los "
    "y e von van zu al ibn bin ben af av ap"
)
_PARTICLES = frozenset(_PARTICLE_LIST.split())


@dataclass(frozen=True)
class PageTitle:
    """A page's title; ``qualifier`` is what a trailing parenthesis held ("politician"), or None."""

    title: str
    qualifier: str | None = None

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Folded tokens of the title without its qualifier."""
        return tokens(self.title)


@lru_cache(maxsize=32768)
def page_title(url: str | None) -> PageTitle | None:
    """Read the title off a wiki page's URL; None where there is no URL or it names no page."""
    if not url:
        return None
    path = urlsplit(url).path
    # titles may hold slashes ("AC/DC"), so only the part up to /wiki/ is the server's
    slug = path.split("/wiki/", 1)[1] if "/wiki/" in path else path.rsplit("/", 1)[-1]
    title = unquote(slug).replace("_", " ").strip()
    if not title:
        return None
    match = _QUALIFIED.match(title)
    return PageTitle(match["title"], match["qualifier"]) if match else PageTitle(title)


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Lower-case ``text`` without accents; ``*`` stays as it is."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_PLAIN)


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Folded word tokens of a name or title, the possessive 's cut off, hyphens splitting."""
    return tuple(token.removesuffix("'s") for token in _TOKEN.findall(fold(text)))


@lru_cache(maxsize=65536)
def same_token(left: str, right: str) -> bool:
    """Whether two folded tokens are one word, ``*`` in either standing for one lost letter.

    Some letters fold to two ("ß" to "ss"), so ``*`` stands for one or two characters.
    """
    if left == right:
        return True
    return _matches(left, right) or _matches(right, left)


def _matches(garbled: str, whole: str) -> bool:
    if "*" not in garbled or not garbled.strip("*"):
        return False
    return re.fullmatch(re.escape(garbled).replace(r"\*", r"[\w*]{1,2}"), whole) is not None


@lru_cache(maxsize=65536)
def telling_tokens(text: str) -> tuple[str, ...]:
    """Give the tokens that identify somebody: no particles and no initials, unless there is nothing else."""
    all_tokens = tokens(text)
    kept = tuple(token for token in all_tokens if len(token) > 1 and token not in _PARTICLES)
    return kept or all_tokens


def shared_tokens(name: str, title: str) -> int:
    """How many of the name's tokens occur in ``title``, case, accents, particles and initials aside."""
    theirs = telling_tokens(title)
    return sum(any(same_token(token, other) for other in theirs) for token in telling_tokens(name))


def same_name(name: str, title: str) -> bool:
    """Whether ``name`` is the whole of ``title``, case and accents aside."""
    ours, theirs = tokens(name), tokens(title)
    return (
        bool(ours)
        and len(ours) == len(theirs)
        and all(same_token(a, b) for a, b in zip(ours, theirs, strict=True))
    )
