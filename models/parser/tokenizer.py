"""spaCy's English tokenizer with the few rules that Universal Dependencies and Wikipedia snippets ask for.

Loaded by ``spacy train --code``. The rules are written into the pipeline's own ``tokenizer`` file, so the finished
pipeline needs none of this code.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import spacy
from spacy.language import Language
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

#: rows of the same sign (``!!``, ``?!``, ``----``, ``____``), which UD keeps as one token
_RUN = r"[!?]{2,}|_{2,}|={2,}|\*{2,}|~{2,}|\+{2,}|\${2,}|#{2,}|<{2,}|>{2,}|-{3,}"
#: words that UD keeps whole: those with a bound prefix, and telephone numbers
_WHOLE = re.compile(
    r"(?i:non|e|mid|re|anti|pre|pro|co|cross|post|over|multi|ex|sub|semi|counter|mini|ultra|inter|intra|trans)-\w+$"
    r"|(?:1-)?\d{3}-(?:\d{3}-)?\d{4}$"
)
#: words that UD splits, or keeps, otherwise than spaCy's exceptions have it
_SPECIAL = {
    "and/or": ["and", "/", "or"],
    "wanna": ["wan", "na"],
    "etc.": ["etc."],
    "al.": ["al."],
    "Ft.": ["Ft."],
    "Capt.": ["Capt."],
}


def adapt_tokenizer(nlp: Language) -> Language:
    """Change the tokenizer of ``nlp`` in place and return ``nlp``.

    - rows of one sign (``?!``, ``____``) are one token, as in UD;
    - an asterisk that stands for an accented letter (GAP writes *Andr*s* and ``Ren*``) stays inside its word;
    - *e-mail*, *co-founder* and telephone numbers are one word;
    - opening double back-quotes are one token, and dashes of two hyphens split figures as well as words.
    """
    defaults = nlp.Defaults
    prefixes = [p for p in (defaults.prefixes or []) if p != r"\*"]
    prefixes = [_RUN, "``", *prefixes, r"\*(?![a-z])"]
    suffixes = [s for s in (defaults.suffixes or []) if s not in (r"\*", r"\!", r"\?")]
    # an asterisk closes a token only where no letter stands before it, or it is one of several
    suffixes = [_RUN, "``", *suffixes, r"(?<![A-Za-z])\*", r"(?<=\*)\*", r"[!?]+"]
    # GAP's dashes are two hyphens, also between figures and behind quotes, and brackets may lack their blank
    infixes = [
        r"(?<=[\w'.,)])--+(?=\w)",
        r"(?<=[A-Za-z])[()](?=[A-Za-z])",
        "``",
        "''",
        *(defaults.infixes or []),
    ]
    tokenizer = nlp.tokenizer
    tokenizer.prefix_search = compile_prefix_regex(prefixes).search
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    tokenizer.token_match = _WHOLE.match
    for word, parts in _SPECIAL.items():
        tokenizer.add_special_case(word, [{"ORTH": part} for part in parts])
    return nlp


@spacy.registry.callbacks("gapstack.tokenizer.v1")
def tokenizer_callback() -> Callable[[Language], Language]:
    """``[initialize.before_init]``: run once, before training."""
    return adapt_tokenizer
