"""Tables for spaCy's rule lemmatiser, learnt from the treebank, so that nothing has to be downloaded.

For each part of speech: exceptions (forms whose lemma the rules get wrong), an index of known lemmas, and suffix rules,
the longest first, so that the rule with the most context decides about a word never seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import takewhile

from spacy.lookups import Lookups
from spacy.tokens import Doc

Tables = dict[str, dict[str, object]]


def suffix_rules(pairs: Counter[tuple[str, str]], context: int = 3, least: int = 4) -> list[tuple[str, str]]:
    """(old suffix, new suffix) with up to ``context`` letters of the stem, kept if right more often than not."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for (form, lemma), _ in pairs.items():
        stem = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(form, lemma, strict=False)))
        for more in range(context + 1):
            start = stem - more
            if start < 1 or len(form) - start > 7 or start == len(form):
                continue
            votes[form[start:]][lemma[start:]] += 1
    rules = []
    for old, news in votes.items():
        new, n = news.most_common(1)[0]
        if n >= least and 2 * n > sum(news.values()):
            rules.append((old, new))
    return sorted(rules, key=lambda r: (-len(r[0]), r))


def lemma_tables(docs: Iterable[Doc]) -> Lookups:
    """Lookups with ``lemma_rules``, ``lemma_exc`` and ``lemma_index`` for `spacy`'s lemmatiser in rule mode."""
    seen: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for doc in docs:
        for t in doc:
            if t.pos_ and t.lemma_ and t.lemma_ != "_":
                seen[t.pos_.lower()][t.lower_, t.lemma_] += 1
    rules: Tables = {}
    exceptions: Tables = {}
    index: Tables = {}
    for pos, pairs in sorted(seen.items()):
        if pos in {"propn", "x", "sym", "punct", "num", "intj"}:
            continue
        best: dict[str, Counter[str]] = defaultdict(Counter)
        for (form, lemma), n in pairs.items():
            best[form][lemma] += n
        chosen = {form: lemmas.most_common(1)[0][0] for form, lemmas in best.items()}
        # "I" is the one lemma with a capital
        known = {lemma for lemma in chosen.values() if lemma.islower() or lemma == "I"}
        inflected = {
            f: lemma for f, lemma in chosen.items() if f != lemma and f.isalpha() and lemma.islower()
        }
        open_class = pos in {"noun", "verb", "adj", "adv"}
        found = suffix_rules(Counter(inflected.items())) if open_class else []
        found.append(("", ""))  # what no other rule changes is at least put in lower case
        rules[pos] = list(found)  # type: ignore[assignment]
        index[pos] = sorted(known) if open_class else []  # type: ignore[assignment]
        exceptions[pos] = {f: [lemma] for f, lemma in chosen.items() if _apply(f, found, known) != lemma}
    lookups = Lookups()
    lookups.add_table("lemma_rules", rules)
    lookups.add_table("lemma_exc", exceptions)
    lookups.add_table("lemma_index", index)
    return lookups


def _apply(form: str, rules: list[tuple[str, str]], index: set[str]) -> str:
    """What spaCy's ``rule_lemmatize`` makes of a lower-case form when there are no exceptions."""
    in_index: list[str] = []
    others: list[str] = []
    for old, new in rules:
        if form.endswith(old):
            lemma = form[: len(form) - len(old)] + new
            if lemma in index:
                in_index.insert(0, lemma)
            elif lemma and not lemma.isalpha():
                in_index.append(lemma)
            elif lemma:
                others.append(lemma)
    return (in_index or others or [form])[0]
