"""Page titles, read off the snippet's URL, and their overlap with names."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote, urlsplit

_QUALIFIED = re.compile(r"^(?P<title>.*\S)\s*\((?P<qualifier>[^()]*(?:\([^()]*\))?[^()]*)\)$")
_TOKEN = re.compile(r"[\w*]+(?:['\u2019][\w*]+)*")
# Letters without a Unicode decomposition.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
    | {"\u2018": "'", "\u2019": "'"}
)
# Words that names and titles share by accident.
_PARTICLE_LIST = (
    "a an and the of in on at to for by de da do dos das del della der den des di du el la las le les los "
    "y e von van zu al ibn bin ben af av ap"
)
_PARTICLES = frozenset(_PARTICLE_LIST.split())


@dataclass(frozen=True)
class PageTitle:
    """A page's title; ``qualifier`` is the content of a trailing parenthesis ("politician"), or None."""

    title: str
    qualifier: str | None = None

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Folded tokens of the title without its qualifier."""
        return tokens(self.title)


@lru_cache(maxsize=32768)
def page_title(url: str | None) -> PageTitle | None:
    """Read the title off a wiki page's URL; None without a URL or page name."""
    if not url:
        return None
    path = urlsplit(url).path
    # titles may have slashes ("AC/DC"), so everything after /wiki/ is the title
    slug = path.split("/wiki/", 1)[1] if "/wiki/" in path else path.rsplit("/", 1)[-1]
    title = unquote(slug).replace("_", " ").strip()
    if not title:
        return None
    match = _QUALIFIED.match(title)
    return PageTitle(match["title"], match["qualifier"]) if match else PageTitle(title)


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Lower-case ``text`` and remove accents; ``*`` stays."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_PLAIN)


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Folded word tokens of a name or title, split at hyphens and without the possessive 's."""
    return tuple(token.removesuffix("'s") for token in _TOKEN.findall(fold(text)))


@lru_cache(maxsize=65536)
def same_token(left: str, right: str) -> bool:
    """True if two folded tokens are equal, where ``*`` in either stands for a lost letter (one or two characters)."""
    if left == right:
        return True
    return _matches(left, right) or _matches(right, left)


def _matches(garbled: str, whole: str) -> bool:
    if "*" not in garbled or not garbled.strip("*"):
        return False
    return re.fullmatch(re.escape(garbled).replace(r"\*", r"[\w*]{1,2}"), whole) is not None


@lru_cache(maxsize=65536)
def distinctive_tokens(text: str) -> tuple[str, ...]:
    """Tokens of a name without particles and initials; all of them where nothing would remain."""
    all_tokens = tokens(text)
    return tuple(token for token in all_tokens if len(token) > 1 and token not in _PARTICLES) or all_tokens


def shared_tokens(name: str, title: str) -> int:
    """Number of the name's distinctive tokens that occur in ``title``."""
    title_tokens = distinctive_tokens(title)
    return sum(any(same_token(token, other) for other in title_tokens) for token in distinctive_tokens(name))


def same_name(name: str, title: str) -> bool:
    """True if ``name`` equals ``title``, ignoring case and accents."""
    left, right = tokens(name), tokens(title)
    return 0 < len(left) == len(right) and all(map(same_token, left, right))
