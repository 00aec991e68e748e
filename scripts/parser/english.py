"""spaCy's English tokenizer with the few rules that Universal Dependencies and Wikipedia snippets ask for.

Loaded by ``spacy train --code``. The rules are written into the pipeline's own ``tokenizer`` file, so the finished
pipeline needs none of this code.
"""

from __future__ import annotations

from collections.abc import Callable

import spacy
from spacy.language import Language
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

#: words that UD keeps whole although they have a hyphen
_WHOLE = ("e-mail", "e-mails", "e-mailed", "e-mailing", "E-mail", "E-mails", "E-Mail", "E-MAIL")


def adapt_tokenizer(nlp: Language) -> Language:
    """Change the tokenizer of ``nlp`` in place and return ``nlp``.

    - runs of ``!`` and ``?`` are one token, as in UD;
    - an asterisk that stands for an accented letter (GAP writes *Andr*s* and ``Ren*``) stays inside its word;
    - *e-mail* is one word;
    - opening double back-quotes are one token, and dashes of two hyphens split figures as well as words.
    """
    defaults = nlp.Defaults
    prefixes = [p for p in (defaults.prefixes or []) if p != r"\*"]
    prefixes = [r"[!?]{2,}", "``", *prefixes, r"\*(?![a-z])"]
    suffixes = [s for s in (defaults.suffixes or []) if s not in (r"\*", r"\!", r"\?")]
    # an asterisk closes a token only where no letter stands before it, or it is one of several
    suffixes += ["``", r"(?<![A-Za-z])\*", r"(?<=\*)\*", r"[!?]+"]
    # GAP's dashes are two hyphens, also between figures and behind quotes, and brackets may lack their blank
    infixes = [
        r"(?<=[\w'.,)])--+(?=\w)",
        r"(?<=[A-Za-z])[()](?=[A-Za-z])",
        "``",
        "''",
        *(defaults.infixes or []),
    ]
    tokenizer = nlp.tokenizer
    tokenizer.prefix_search = compile_prefix_regex(prefixes).search  # type: ignore[attr-defined]
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search  # type: ignore[attr-defined]
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer  # type: ignore[attr-defined]
    for word in _WHOLE:
        tokenizer.add_special_case(word, [{"ORTH": word}])  # type: ignore[attr-defined]
    return nlp


@spacy.registry.callbacks("gapstack.tokenizer.v1")
def tokenizer_callback() -> Callable[[Language], Language]:
    """``[initialize.before_init]``: run once, before training."""
    return adapt_tokenizer
