"""Sentences with two people and a pronoun: Winograd-like schemas, KnowRef, MAP, Winogender, WinoBias, Attree's rows.

WSC273 and WinoGrande have a blank in place of the pronoun. It is filled if both candidates are first names of the same
gender, and the words around it determine the case ("because _ was", "to _.", "_'s"). Otherwise the schema is skipped.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from gapstack.data import sources
from gapstack.data.cells import read_table, read_text
from gapstack.data.corpus import GAP_COLUMNS, example_of
from gapstack.data.example import Example, Gender, Label, Span, occurrences
from gapstack.data.extra.rows import PRONOUN, ExtraRows, ExtraSource
from gapstack.data.gender import FirstNames, first_names
from gapstack.data.person_words import HE, SHE
from gapstack.data.sources import file_of
from gapstack.errors import DataNotFoundError

_PRONOUNS = {Gender.MASCULINE: HE, Gender.FEMININE: SHE}
_SUBORDINATOR_WORDS = """
because since as so but although though while when whenever until unless if after before that and
"""
_SUBORDINATORS = frozenset(_SUBORDINATOR_WORDS.split())
_PREPOSITION_WORDS = "to with of by from on at about toward towards against behind near beside without"
_PREPOSITIONS = frozenset(_PREPOSITION_WORDS.split())
_FINITE_WORDS = """
is was are were has had have does did do can could will would shall should may might must
always never often usually really still just only already also
isn't wasn't hasn't hadn't doesn't didn't can't couldn't won't wouldn't shouldn't
"""
_FINITE = frozenset(_FINITE_WORDS.split())
_MAP_ANSWERS = {"0": Label.A, "2": Label.B, "3": Label.NEITHER, "1": None}
# Phrases of the two KnowRef sentences and the MAP snippet that share thirteen words with GAP development or
# stage 2; found by shared_passages, and a test looks for more.
_IN_GAP = (
    "meant that finances became pretty tight",
    "until he believes him dead",
    "she won a gold award in the Open",
)
_SHARED = "the passage is in GAP or in stage 2"
# Phrases of the three sentences of KnowRef's training part that are the test's with other names.
_IN_KNOWREF_TEST = (
    "when she finds out she is cheating on her",
    "because she believes that she does not love her",
    "suffers feelings of guilt since he is Rose",
)
_BRACKET = re.compile(r"\[ ?([^\[\]]*?) ?\]")


def read_dpr(split: str, into: ExtraRows) -> None:
    """Read one split of Definite Pronoun Resolution (Rahman & Ng 2012): ``train`` (1,316) or ``test`` (564)."""
    for number, (text, pronoun, candidates, right) in _blocks(file_of("dpr", f"{split}.c.txt")):
        places = occurrences(text, pronoun)
        if len(places) != 1:
            into.skip("the pronoun does not occur once")
        else:
            _add(into, f"dpr-{split}-{number}", text, places[0], candidates, right)


def read_wsc273(into: ExtraRows) -> None:
    """Read the 273 Winograd schemas (Levesque et al. 2012)."""
    names = first_names()
    for number, (sentence, _, candidates, right) in _blocks(file_of("wsc", "wsc273.txt")):
        before, after = re.split(r" *\[MASK\] *", sentence.strip())
        before = f"{before} ".lstrip()
        after = after if after[:1] in ".,;:!?'" else f" {after}"
        _fill(into, f"wsc273-{number}", before, after, candidates, right, names, marked=False)


def _blocks(path: Path) -> Iterator[tuple[int, tuple[str, str, list[str], int]]]:
    """Blocks of four lines: number, sentence, pronoun, two candidates, and the index of the right one."""
    for number, block in enumerate(re.findall(r"(?:.+\n?)+", read_text(path)), start=1):
        sentence, pronoun, both, answer = block.splitlines()
        candidates = [candidate.strip() for candidate in both.split(",")]
        yield number, (sentence, pronoun, candidates, candidates.index(answer.strip()))


def read_winogrande(into: ExtraRows) -> None:
    """Read WinoGrande's training schemas (Sakaguchi et al. 2020), two lines of ``train.tsv`` each."""
    names = first_names()
    rows = _table(file_of("winogrande", "train.tsv"))
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        candidates = [first["candidate0"], first["candidate1"]]
        answer = (first if first["label"] == "1" else second)["sentence1"]
        ends = [candidate for candidate in candidates if answer.endswith(" " + candidate)]
        if len(ends) != 1:
            into.skip("a candidate is not in the sentence as written")
            continue
        before, right = answer.removesuffix(ends[0]), candidates.index(ends[0])
        name = f"winogrande-{first['index']}"
        _fill(into, name, before, first["sentence2"], candidates, right, names, marked=True)


def _table(path: Path) -> list[dict[str, str]]:
    """Rows of a table with tabs between its cells."""
    return list(csv.DictReader(io.StringIO(read_text(path)), delimiter="\t", quoting=csv.QUOTE_NONE))


def read_winogrande_development(into: ExtraRows) -> None:
    """Read WinoGrande's 1,267 development schemas, a JSON object a line; blanks are filled as for the training ones."""
    names = first_names()
    lines = read_text(file_of("winogrande", "dev.jsonl")).splitlines()
    for number, item in enumerate(map(json.loads, lines), start=1):
        before, after = item["sentence"].split("_")
        candidates, right = [item["option1"], item["option2"]], ["1", "2"].index(item["answer"])
        _fill(into, f"winogrande-dev-{number}", before, after, candidates, right, names, marked=True)


def _fill(
    into: ExtraRows,
    name: str,
    before: str,
    after: str,
    candidates: list[str],
    right: int,
    names: FirstNames,
    *,
    marked: bool,
) -> None:
    """Add a schema with its blank filled, or skip it; ``marked`` says that possessive blanks are followed by "'s"."""
    case = case_of_blank(before, after, marked=marked)
    gender, *others = {names.genders.get(candidate) for candidate in candidates}
    if len(candidates) != 2 or gender is None or others:
        into.skip("the candidates are not two first names of one gender")
    elif case is None:
        into.skip("the case of the blank is not sure")
    else:
        form = getattr(_PRONOUNS[gender], case)
        if not before.strip() or before.rstrip()[-1] in ".!?":
            form = form.capitalize()
        if case == "possessive":
            after = re.sub(r"\A['\u2019]s\b", "", after)
        pronoun = Span(len(before), len(before) + len(form))
        _add(into, name, before + form + after, pronoun, candidates, right)


def case_of_blank(before: str, after: str, *, marked: bool) -> str | None:
    """``subject``, ``object`` or ``possessive`` for a blank between two parts of a sentence, None if unsure.

    Possessive before "'s". Subject before a finite auxiliary or an -ed form, and, if ``marked`` (no other blank is
    possessive), after a subordinator. Object at the end of a clause, and after a preposition if ``marked``.
    """
    if re.match(r"['\u2019]s\b", after):
        return "possessive"
    following = re.match(r" ?([\w'\u2019]+)", after)
    preceding = re.search(r"([\w'\u2019]+)(,?) ?\Z", before)
    word = preceding[1].lower() if preceding else ""
    opens = not before.strip() or before.rstrip()[-1] in ".!?;" or (word in _SUBORDINATORS)
    if following is None:  # a mark, or the end
        return "object" if preceding and not preceding[2] and not opens else None
    next_word = following[1].lower()
    if opens or (preceding and preceding[2]):
        sure = next_word in _FINITE or next_word.endswith("ed")
        return "subject" if sure or (marked and opens and next_word not in _PREPOSITIONS) else None
    return "object" if marked and word in _PREPOSITIONS and next_word in _SUBORDINATORS else None


def _add(into: ExtraRows, name: str, text: str, pronoun: Span, candidates: list[str], right: int) -> None:
    """Add a row with the candidates' mentions nearest to the pronoun, preceding ones first."""
    spans = []
    for candidate in candidates:
        places = [span for span in occurrences(text, candidate, any_case=True) if not span.overlaps(pronoun)]
        before = [span for span in places if span.end <= pronoun.start]
        if places:
            spans.append(_nearest(before or places, pronoun))
    if len(spans) != 2 or spans[0].overlaps(spans[1]):
        into.skip("a candidate is not in the sentence as written")
    else:
        into.add(name, text, pronoun, spans[right], spans[1 - right])


def _nearest(spans: list[Span], to: Span) -> Span:
    """The span with the fewest characters between it and another; the earlier of two equally near."""
    return min(spans, key=lambda span: (max(to.start - span.end, span.start - to.end), span.start))


def read_knowref(split: str, into: ExtraRows) -> None:
    """Read one split of KnowRef (Emami et al. 2019): ``test`` (1,269 sentences) or ``train`` (5,220).

    ``correct_candidate`` is taken as the answer: ``correct_candidate_idx``, which the test part has, contradicts it in
    299 rows, and reading them shows the words to be right.
    """
    prefix = "knowref" if split == "test" else "knowref-train"
    items = json.loads(read_text(file_of("knowref", f"knowref_{split}.json")))
    for number, item in enumerate(items, start=1):
        named = (item["candidate0"], item["candidate1"], item["correct_candidate"])
        # the test part has lists of mentions
        *candidates, answer = (name if isinstance(name, str) else "".join(name[:1]) for name in named)
        text, (pronoun, *more) = _without_brackets(item["sentence_with_pronoun"])
        right = candidates.index(answer)
        spans = [occurrences(text, name, any_case=True) for name in candidates]
        if more:
            into.skip("two pronouns are in brackets")
        elif any(phrase in text for phrase in _IN_GAP):
            into.skip(_SHARED)
        elif split == "train" and any(phrase in text for phrase in _IN_KNOWREF_TEST):
            into.skip("the sentence is in the test part, with other names")
        elif not all(spans) or spans[0] == spans[1]:
            into.skip("a candidate is not in the sentence, or both are one")
        else:
            both = [_nearest(places, pronoun) for places in spans]
            into.add(f"{prefix}-{number}", text, pronoun, both[right], both[1 - right])


def read_map(into: ExtraRows, *, rewritten: bool = False) -> None:
    """Read MAP, the Maybe Ambiguous Pronoun snippets (Cao & Daumé 2020): 183 from Wikipedia, in GAP's form.

    The file has each of them ten times with cues of gender removed; these copies are read only if ``rewritten`` (ids
    then say what was rewritten: ``+pro`` pronouns, ``+ent`` names, ``+lex`` nouns, ``+addr`` titles). The answer is 0
    for A, 2 for B, 3 for neither and 1 for both, which no label can express.
    """
    reader = csv.DictReader(io.StringIO(read_text(file_of("gicoref-map", "map.csv"))))
    for row in reader:
        text = row["full-text"].replace("\n", " ")  # GAP files cannot hold line breaks
        label = _MAP_ANSWERS[row["Answer"]]
        starts = {column: int(row[f"{column}-offset"]) for column in ("Pronoun", "A", "B")}
        if "+" in row["id"] and not rewritten:
            into.skip("a rewritten copy")
        elif label is None:
            into.skip("the pronoun is both names")
        elif any(phrase in text for phrase in _IN_GAP):
            into.skip(_SHARED)
        elif not all(text.startswith(row[column], start) for column, start in starts.items()):
            into.skip("a rewritten copy's offsets miss its words")
        else:
            pronoun, a, b = (Span(start, start + len(row[column])) for column, start in starts.items())
            into.keep(Example(f"map-{row['id']}", text, pronoun, a, b, None, label))


def read_neither_attree(into: ExtraRows) -> None:
    """Read the 253 NEITHER rows that the winner added (Attree 2019), in snippets and with the URLs of GAP test."""
    rows = read_table(sources.require("neither-attree"), (GAP_COLUMNS,), example_of)
    for number, row in enumerate(rows, start=1):  # some have one id
        into.keep(replace(row, id=f"neither-attree-{number}-{row.id}"))


def read_winogender(into: ExtraRows) -> None:
    """Read the 720 Winogender sentences (Rudinger et al. 2018); mentions include their article."""
    for row in _table(file_of("winogender", "all_sentences.tsv")):
        occupation, participant, answer, *_ = row["sentid"].split(".")
        text, right = row["sentence"], int(answer)
        (first,), (second,) = (occurrences(text, words, any_case=True) for words in (occupation, participant))
        (pronoun,) = (Span(*match.span()) for match in PRONOUN.finditer(text))
        spans = [with_article(text, span) for span in (first, second)]
        name = f"winogender-{row['sentid'].removesuffix('.txt')}"
        into.add(name, text, pronoun, spans[right], spans[1 - right])


def read_winobias(release: str, into: ExtraRows) -> None:
    """Read all eight files of a WinoBias release (Zhao et al. 2018): ``current`` or ``original``.

    A line has brackets around the right occupation and, last, the pronoun. Lines without exactly one other occupation
    are skipped.
    """
    folder = sources.require("winobias") / ("original_site" if release == "original" else "")
    paths = sorted(folder.glob("*_stereotyped_type?.txt.*"))
    if len(paths) != 8:
        raise DataNotFoundError(
            f"{folder} has {len(paths)} WinoBias files; expected 8 (pro and anti, type 1 and 2)"
        )
    lines: list[tuple[str, str, list[Span], Span]] = []
    occupations: set[str] = set()
    for path in paths:
        kind, split = path.name.replace("_stereotyped_", "-").split(".txt.")
        for number, line in enumerate(read_text(path).splitlines(), start=1):
            if not line.strip():
                continue
            numbered = re.sub(r"\d+ ", "", line, count=1) if release == "current" else line
            text, spans = _without_brackets(numbered)
            people = [span for span in spans if not PRONOUN.fullmatch(text[slice(*span)])]
            lines.append((f"winobias-{release}-{kind}-{split}-{number}", text, people, spans[-1]))
            words = (text[slice(*span)].strip().lower() for span in people)
            occupations.update(re.sub(r"^(?:the|an?|some) | 's$", "", word) for word in words)
    longest_first = sorted(map(re.escape, occupations), key=len, reverse=True)
    any_occupation = re.compile(rf"\b(?:{'|'.join(longest_first)})\b", re.IGNORECASE)
    for name, text, people, pronoun in lines:
        named = (Span(*match.span()) for match in any_occupation.finditer(text))
        others = [span for span in named if people and not span.overlaps(people[0])]
        if len(people) != 1:
            into.skip("the brackets do not have exactly one occupation")
        elif len(others) != 1:
            into.skip("the sentence does not have exactly one other occupation")
        else:
            into.add(name, text, pronoun, *(with_article(text, span) for span in (people[0], others[0])))


def with_article(text: str, span: Span) -> Span:
    """The span together with the article before it, if there is one."""
    article = re.search(r"\b(?:the|an?)\s+\Z", text[: span.start], re.IGNORECASE)
    return Span(article.start(), span.end) if article else span


def _without_brackets(marked: str) -> tuple[str, list[Span]]:
    """The sentence without its brackets (and blanks just inside them), and the spans that were in brackets."""
    text, spans = "", []
    for number, part in enumerate(_BRACKET.split(marked)):  # what is in brackets is in odd places
        if number % 2:
            spans.append(Span(len(text), len(text) + len(part)))
        text += part
    return text, spans


def _read_dpr_whole(into: ExtraRows) -> None:
    for split in ("train", "test"):
        read_dpr(split, into)


_WINOBIAS_SUITES = ("winobias", "winobias-original")  # the releases share nearly all sentences
_WINOGRAD_SUITES = ("wsc273", "superglue-wsc", "wnli")  # the same schemas in three forms
DPR = ExtraSource(_read_dpr_whole, ("dpr",), ("dpr-test",))
DPR_TRAIN = ExtraSource(partial(read_dpr, "train"), ("dpr",))
WINOGENDER = ExtraSource(read_winogender, ("winogender",), ("winogender", "winopron"))
WINOBIAS = ExtraSource(partial(read_winobias, "current"), ("winobias",), _WINOBIAS_SUITES)
WINOBIAS_ORIGINAL = ExtraSource(partial(read_winobias, "original"), ("winobias",), _WINOBIAS_SUITES)
KNOWREF = ExtraSource(partial(read_knowref, "test"), ("knowref",), ("knowref",))
KNOWREF_TRAIN = ExtraSource(partial(read_knowref, "train"), ("knowref",))
MAP = ExtraSource(read_map, ("gicoref-map",), ("map",))
WSC273 = ExtraSource(read_wsc273, ("wsc", "names"), _WINOGRAD_SUITES)
WINOGRANDE = ExtraSource(read_winogrande, ("winogrande", "names"))
NEITHER_ATTREE = ExtraSource(read_neither_attree, ("neither-attree",), ("gap-test",))
