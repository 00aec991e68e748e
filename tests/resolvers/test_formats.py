"""Each format as its resolver writes it, of one text: Ann Lee and She, Beth and her."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Span
from gapstack.data.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.errors import DataError
from gapstack.registry import UnknownNameError
from gapstack.resolvers.align import align, read_resolver
from gapstack.resolvers.formats import EXCHANGE, FORMATS, detect

TEXT = "Ann Lee  met Beth. She didn't see her."
ANN, BETH, SHE, HER = Span(0, 7), Span(13, 17), Span(19, 22), Span(34, 37)
EXPECTED = {frozenset({ANN, SHE}), frozenset({BETH, HER})}
ROW = Example("row-1", TEXT, pronoun=SHE, a=ANN, b=BETH)
ROWS = Corpus([ROW, replace(ROW, id="row-2", text=TEXT + " Bo slept.")], name="rows")

TOKENS = ["Ann", "Lee", "met", "Beth", ".", "She", "did", "n't", "see", "her", "."]
BY_TOKEN = [[[0, 1], [5, 5]], [[3, 3], [9, 9]]]
CHARACTERS = [[[0, 7], [19, 22]], [[13, 17], [34, 37]]]
STARTS = [0, 4, 9, 13, 17, 19, 23, 26, 30, 34, 37]
SPACY_TOKENS = [{"id": i, "start": at, "end": at + len(TOKENS[i])} for i, at in enumerate(STARTS)]


def corenlp_sentence(tokens):
    return {"tokens": [{"word": token, "originalText": token, "characterOffsetBegin": 0} for token in tokens]}


def corenlp_mention(sentence, start, end):
    return {"sentNum": sentence, "startIndex": start, "endIndex": end, "headIndex": end - 1, "type": "PROPER"}


MENTIONS = ["(0", "0)", "-", "(1)", "-", "(0)", "-", "-", "-", "(1)", "-"]
CONLL_LINES = [
    f"nw/row-1  0  {i}  {token}  NN  *  see 01  (V*)  {mentions}"
    for i, (token, mentions) in enumerate(zip(TOKENS, MENTIONS, strict=True))
]
CONLL = "\n".join(
    ["#begin document (row-1); part 000", *CONLL_LINES[:5], "", *CONLL_LINES[5:], "", "#end document", ""]
)
WRITTEN = {
    "neuralcoref": {
        **{"id": "row-1", "text": "Ann Lee met beth. She did not see her.", "corefs": [["She", "Ann Lee"]]},
        "mentions": [
            [0, 7, "PROP", None, None, None],
            [12, 16, "PROP", 1.5, None, None],
            [18, 21, "PRON", -0.2, 0, 6.5, [6.5, 1.0]],
            [34, 37, "PRON", -0.1, 1, 4.5, [1.0, 4.5, 0.0]],
            [26, 29, "NOMI", 2.0, None, None],
        ],
    },
    "corenlp": {
        "docId": "row-1",
        "sentences": [corenlp_sentence(TOKENS[:5]), corenlp_sentence(TOKENS[5:])],
        "corefs": {
            "3": [corenlp_mention(1, 1, 3), corenlp_mention(2, 1, 2)],
            "5": [corenlp_mention(1, 4, 5), corenlp_mention(2, 5, 6)],
        },
    },
    "allennlp": {"id": "row-1", "document": TOKENS, "clusters": BY_TOKEN, "top_spans": [[0, 1], [5, 5]]},
    "e2e-coref": {
        **{"doc_key": "row-1", "sentences": [TOKENS[:5], TOKENS[5:]], "clusters": []},
        **{"predicted_clusters": BY_TOKEN, "speakers": []},
    },
    "e2e-coref-gold": {
        **{"doc_key": "row-1", "sentences": [TOKENS[:5], TOKENS[5:]], "clusters": BY_TOKEN},
        "speakers": [["-"] * 5, ["-"] * 6],
    },
    "wl-coref": {
        **{"document_id": "row-1", "cased_words": TOKENS, "sent_id": [0] * len(TOKENS), "word_clusters": []},
        "span_clusters": [[[start, end + 1] for start, end in cluster] for cluster in BY_TOKEN],
    },
    "wl-coref-gold": {
        **{"document_id": "row-1", "cased_words": TOKENS, "sent_id": [0] * len(TOKENS)},
        "clusters": [[[start, end + 1] for start, end in cluster] for cluster in BY_TOKEN],
    },
    "maverick": {
        **{"id": "row-1", "tokens": TOKENS, "clusters_token_offsets": BY_TOKEN},
        **{"clusters_char_offsets": None, "clusters_token_text": [["Ann Lee", "She"], ["Beth", "her"]]},
    },
    "fastcoref": {"id": "row-1", "text": TEXT, "clusters": CHARACTERS, "clusters_strings": [["Ann Lee"]]},
    "spacy": {
        **{"id": "row-1", "text": TEXT, "ents": [], "tokens": SPACY_TOKENS},
        "spans": {
            "coref_clusters_1": [{"start": 0, "end": 7, "label": ""}, {"start": 19, "end": 22, "label": ""}],
            "coref_clusters_2": [{"start": 13, "end": 17}, {"start": 34, "end": 37}],
            "coref_head_clusters_1": [{"start": 4, "end": 7, "label": ""}],
            "sc": [{"start": 0, "end": 3, "label": "X"}],
        },
    },
    "conll2012": CONLL,
}


def file_of(folder, name, record=None):
    record = WRITTEN[name] if record is None else record
    path = folder / f"{name}.out"
    path.write_text(record if isinstance(record, str) else json.dumps(record) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_output_becomes_spans_of_the_original(name, tmp_path):
    path = file_of(tmp_path, name)
    assert detect(path) == name
    found = read_resolver(path, ROWS)
    (document,) = found.clusters.documents
    assert (found.format, found.rows, found.failed, found.lost) == (name, 1, [], 0)
    assert document.text_sha256 == text_sha256(TEXT)
    assert {frozenset(cluster) for cluster in document.clusters} == EXPECTED
    assert found.clusters.covers(ROWS).tolist() == [True, False]
    assert found.clusters.decide(ROWS)[0].tolist() == [True, False]
    if name == "neuralcoref":
        assert document.link_scores == {(SHE, ANN): 6.5, (HER, BETH): 4.5}
        assert document.mention_scores[BETH] == 1.5
        assert ANN not in document.mention_scores


def test_the_exchange_format_is_one_of_them(tmp_path):
    path = tmp_path / "own.jsonl"
    write_clusters(path, Clusters("r", "2", [Document("row-1", text_sha256(TEXT), ((ANN, SHE),))]))
    found = read_resolver(path, ROWS)
    assert (found.format, found.clusters.name, found.rows) == (EXCHANGE, "r@2", 1)


def test_rows_without_output_are_not_covered_and_other_texts_are_counted(tmp_path):
    empty = {"id": "row-1", "text": "", "mentions": [], "corefs": []}
    other = {**WRITTEN["neuralcoref"], "id": "row-2", "text": "Nothing of this is in the row's own text."}
    path = file_of(tmp_path, "neuralcoref", "\n".join(map(json.dumps, (empty, other))) + "\n")
    found = read_resolver(path, ROWS)
    assert (found.rows, found.failed) == (1, ["row-2"])
    assert not found.clusters.covers(ROWS).any()


def test_documents_without_ids_belong_to_the_rows_in_order(tmp_path):
    record = {"text": TEXT, "clusters": CHARACTERS}
    lines = [record, {"text": TEXT + " Bo slept.", "clusters": []}]
    path = file_of(tmp_path, "fastcoref", "\n".join(map(json.dumps, lines)) + "\n")
    assert [document.id for document in read_resolver(path, ROWS).clusters.documents] == ["row-1", "row-2"]
    with pytest.raises(DataError, match="1 documents with 0 ids"):
        read_resolver(file_of(tmp_path, "fastcoref", record), ROWS)


FASTCOREF, MAVERICK, CORENLP, NEURALCOREF = (
    WRITTEN[name] for name in ("fastcoref", "maverick", "corenlp", "neuralcoref")
)
REFUSED = (
    # file, selected format, a keyword of the error
    ({"some": 1}, None, "unknown format"),
    (FASTCOREF, "maverick", "tokens"),
    ([1], "fastcoref", "JSON object"),
    ("{", "fastcoref", "JSON"),
    ("[" * 100_000, "fastcoref", "recursion"),
    (FASTCOREF | {"id": "x"}, None, "1 ids (x)"),
    ([FASTCOREF, FASTCOREF], None, "2 documents with 1 ids"),
    (MAVERICK | {"clusters_token_offsets": [[[0, 99]]]}, None, "not valid output"),
    (FASTCOREF | {"clusters": [[[-20, -10]]]}, None, "-20"),
    (FASTCOREF | {"clusters": [[[0, 10_000_000]]]}, None, "10000000"),
    (FASTCOREF | {"clusters": [[[0, 7.0]]]}, None, "integer"),
    (FASTCOREF | {"clusters": [[[0, 7, 9]]]}, None, "not valid output"),
    (FASTCOREF | {"text": 5}, None, "not valid output"),
    (FASTCOREF | {"id": ["x"]}, None, "id is"),
    (CORENLP | {"corefs": {"3": [corenlp_mention(0, 1, 3)]}}, None, "0 is before"),
    (NEURALCOREF | {"mentions": [[0, 7, "PROP", 1.0, -1, 2.0]]}, None, "-1 is before"),
    (NEURALCOREF | {"mentions": [[0, 7, "PROP", "high", None, None]]}, None, "high"),
    (NEURALCOREF | {"mentions": [[0, 7, "PROP", 1e999, None, None]]}, None, "not finite"),
    (CONLL.replace("(0)", "(7"), None, "ends with"),
)


@pytest.mark.parametrize(("record", "named", "keyword"), REFUSED)
def test_invalid_output_is_refused_with_its_place(record, named, keyword, tmp_path):
    path = file_of(tmp_path, "fastcoref", record)
    with pytest.raises(DataError, match=re.escape(keyword)) as refusal:
        read_resolver(path, ROWS, format=named)
    assert refusal.value.place.file == path
    with pytest.raises(UnknownNameError, match="elmo"):
        read_resolver(path, ROWS, format="elmo")


PAIRS = (
    # text of the resolver, original, part of the first, its place in the second
    ("Ann did not see Bo.", "Ann didn't see Bo.", "Bo", "Bo"),
    ("ann met Bo", "Ann met Bo", "ann", "Ann"),
    ("Jose met Bo", "Jos* met  Bo", "Jose", "Jos"),
    ("Ann -LRB- born 1900 -RRB- met Bo", "Ann (born 1900) met Bo", "Bo", "Bo"),
    ("Ann 's dog", "Ann's dog", "Ann 's dog", "Ann's dog"),
    ("Ann met the tall Bo", "Ann met Bo", "tall", None),
)


@pytest.mark.parametrize(("ours", "original", "part", "expected"), PAIRS)
def test_mentions_are_aligned(ours, original, part, expected):
    start = ours.index(part)
    found = align(ours, original)
    place = found.span(Span(start, start + len(part)))
    assert (original[slice(*place)].rstrip("*") if place else None) == expected
    assert 0.5 < found.similarity <= 1


words = st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=12)


@given(words, st.data())
def test_other_blanks_move_no_mention(tokens, data):
    ours = " ".join(tokens)
    gaps = data.draw(st.lists(st.sampled_from([" ", "  ", "\n"]), min_size=len(tokens), max_size=len(tokens)))
    original = "".join(token + gap for token, gap in zip(tokens, gaps, strict=True))
    which = data.draw(st.integers(0, len(tokens) - 1))
    start = sum(len(token) + 1 for token in tokens[:which])
    found = align(ours, original).span(Span(start, start + len(tokens[which])))
    begin = sum(len(token) + len(gap) for token, gap in zip(tokens[:which], gaps[:which], strict=True))
    assert found == (begin, begin + len(tokens[which]))
