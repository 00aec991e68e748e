import gzip
import json
import lzma
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Span
from gapstack.data.clusters import (
    Clusters,
    Document,
    read_clusters,
    text_sha256,
    write_clusters,
)
from gapstack.errors import DataError, DataNotFoundError
from gapstack.resolvers.cluster_sources import read_resolvers

TEXT = "Ann met Beth when she sang to her sister"
#       0123456789012345678901234567890123456789
EXAMPLE = Example("x", TEXT, pronoun=Span(18, 21), a=Span(0, 3), b=Span(8, 12))  # she, Ann, Beth
ANN, BETH, SHE, HER, HER_SISTER = Span(0, 3), Span(8, 12), Span(18, 21), Span(30, 33), Span(30, 40)
CORPUS = Corpus([EXAMPLE, replace(EXAMPLE, id="y", text=TEXT + ".")])


def line(**changes):
    """A good line with some keys changed, or left out where the value is None."""
    record = {
        **{"id": "x", "resolver": "neuralcoref", "version": "4.0", "text_sha256": text_sha256(TEXT)},
        **{"clusters": [[[0, 3], [18, 21]]]},
        **changes,
    }
    return json.dumps({key: value for key, value in record.items() if value is not None})


def written(folder, *lines, name="found.jsonl"):
    path = folder / name
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return path


CLUSTERS = (
    # clusters of the document, cluster of the pronoun
    ((), ()),
    (((ANN, HER),), ()),
    (((BETH, HER), (SHE, ANN)), (ANN, SHE)),
    (((SHE, BETH), (ANN, SHE)), (BETH, SHE)),  # the first cluster counts
    (((Span(13, 26), ANN),), (ANN, Span(13, 26))),  # overlapping is enough
    (((Span(13, 26), BETH), (ANN, SHE)), (ANN, SHE)),  # but the pronoun itself comes first
    (((SHE, HER_SISTER, HER),), (SHE, HER)),  # the shorter of nested mentions with one start
    (((Span(0, 12), BETH, SHE),), (Span(0, 12), SHE)),
)


@pytest.mark.parametrize(("clusters", "expected"), CLUSTERS)
def test_the_pronouns_cluster_is_the_first_that_overlaps_it(clusters, expected):
    found = Clusters("r", "1", [Document("x", text_sha256(TEXT), clusters)])
    assert found.pronoun_cluster(EXAMPLE) == expected


DECISIONS = (
    # end of "Ann Lee met Bo when she saw ...", clusters, True if the pronoun's has A (Ann Lee) and B (Bo) by words
    ("", (), [False, False]),
    ("", (((0, 7), (20, 23)),), [True, False]),
    ("", (((0, 14), (20, 23)),), [True, True]),  # a mention that names both
    ("ANN", (((28, 31), (20, 23)),), [True, False]),  # another mention of her
    ("Anna", (((28, 32), (20, 23)),), [False, False]),  # words, not letters
    ("Lee Ann", (((28, 35), (20, 23)),), [False, False]),  # in their order
    ("Bo's", (((28, 32), (20, 23)),), [False, True]),
    ("!!!", (((28, 31), (20, 23)),), [False, False]),  # no words
)
BY_HEADS = (
    # the same by head words
    ("", (), [False, False]),
    ("", (((0, 7), (20, 23)),), [True, False]),
    ("", (((4, 7), (20, 23)),), [True, False]),  # the head alone
    ("", (((0, 3), (20, 23)),), [False, False]),  # a word of the name that is not its head
    ("Ann", (((28, 31), (20, 23)),), [False, False]),  # the same words at another place
    ("", (((0, 7), (8, 27)),), [False, False]),  # a mention that contains the pronoun
    ("", (((8, 27), (0, 7)), ((12, 14), (20, 23))), [False, True]),
)


def last_word(example, span):
    return Span(span.end - len(example.words(span).split()[-1]), span.end)


@pytest.mark.parametrize(
    ("end", "clusters", "decided", "heads"),
    [(*case, None) for case in DECISIONS] + [(*case, last_word) for case in BY_HEADS],
)
def test_a_name_is_in_the_pronouns_cluster_by_words_or_by_heads(end, clusters, decided, heads):
    row = Example(
        "x", f"Ann Lee met Bo when she saw {end}", pronoun=Span(20, 23), a=Span(0, 7), b=Span(12, 14)
    )
    mentions = tuple(tuple(Span(*mention) for mention in cluster) for cluster in clusters)
    found = Clusters("r", "1", [Document("x", text_sha256(row.text), mentions)])
    other = replace(row, id="y", text=row.text + " again")
    assert found.decide(Corpus([row, other]), heads).tolist() == [decided, [False, False]]


def test_documents_are_found_by_text():
    found = Clusters("r", "1", [Document("x", text_sha256(TEXT), ((ANN, SHE),))])
    assert found.pronoun_cluster(replace(EXAMPLE, id="x~swap_names", a=BETH, b=ANN)) == (ANN, SHE)
    assert found.document(replace(EXAMPLE, text=TEXT.replace("Ann", "Bob"))) is None
    assert found.covers(CORPUS).tolist() == [True, False]


SPANS = st.tuples(st.integers(0, 39), st.integers(1, 12)).map(lambda s: Span(s[0], min(s[0] + s[1], 40)))
SCORES = st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.builds(
    Document,
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1),
    st.just(text_sha256(TEXT)),
    st.lists(st.lists(SPANS, min_size=1).map(tuple)).map(tuple),
    st.dictionaries(SPANS, SCORES),
    st.dictionaries(st.tuples(SPANS, SPANS), SCORES),
)


@settings(max_examples=25)
@given(documents=st.lists(DOCUMENTS, min_size=1, unique_by=lambda d: d.id))
def test_what_is_written_is_read_back(documents, tmp_path_factory):
    path = tmp_path_factory.mktemp("clusters") / "found.jsonl"
    write_clusters(path, Clusters("r", "1", documents))
    found = read_clusters(path)
    assert (found.resolver, found.version, found.documents) == ("r", "1", tuple(documents))


@pytest.mark.parametrize(("suffix", "unpack"), [(".gz", gzip.decompress), (".xz", lzma.decompress)])
def test_files_may_be_compressed_and_lack_the_hash_if_read_with_their_corpus(suffix, unpack, tmp_path):
    path = tmp_path / f"found.jsonl{suffix}"
    write_clusters(path, Clusters("r", "1", [Document("x", text_sha256(TEXT), ((ANN, SHE),))]))
    assert json.loads(unpack(path.read_bytes()))["clusters"] == [[[0, 3], [18, 21]]]
    assert read_clusters(path, CORPUS).documents[0].clusters == ((ANN, SHE),)
    plain = written(tmp_path, line(text_sha256=None))
    assert read_clusters(plain, CORPUS).covers(CORPUS).tolist() == [True, False]
    with pytest.raises(DataNotFoundError, match="no_such"):
        read_clusters(tmp_path / "no_such.jsonl")


LINES = {
    "not JSON": ('{"id": ', None, "JSON"),
    "missing key": (line(clusters=None), None, "clusters"),
    "no hash": (line(text_sha256=None), None, "text_sha256"),
    "unknown key": (line(cluster=[]), None, "cluster"),
    "number as id": (line(id=3), None, "id is 3"),
    "flat clusters": (line(clusters=[[0, 3]]), None, "clusters"),
    "before the text": (line(clusters=[[[-1, 3]]]), None, "[-1, 3]"),
    "empty cluster": (line(clusters=[[]]), None, "clusters"),
    "infinite score": (line(mention_scores=[[0, 3, float("inf")]]), None, "finite"),
    "empty link": (line(link_scores=[[0, 3, 5, 5, 1.0]]), None, "[5, 5]"),
    "duplicate id": (line(id="y"), None, "duplicate"),
    "another resolver": (line(version="5"), None, "resolver"),
    "beyond the text": (line(clusters=[[[30, 41]]]), CORPUS, "[30, 41]"),
    "unknown id": (line(id="z"), CORPUS, "'z'"),
    "another text": (line(text_sha256="0" * 64), CORPUS, "another text"),
}


@pytest.mark.parametrize(("bad", "corpus", "keyword"), LINES.values(), ids=LINES)
def test_a_bad_line_is_refused_with_file_and_line(bad, corpus, keyword, tmp_path):
    path = written(tmp_path, line(id="y", text_sha256=text_sha256(TEXT + ".")), bad)
    with pytest.raises(DataError, match=re.escape(keyword)) as refusal:
        read_clusters(path, corpus)
    assert (refusal.value.place.file, refusal.value.place.line) == (path, 2)


def test_files_of_one_resolver_are_joined_and_read_again_only_if_they_change(tmp_path):
    paths = [
        written(tmp_path, line(), name="1"),
        written(tmp_path, line(version="5"), name="2"),
        written(tmp_path, line(id="y", text_sha256=text_sha256(TEXT + ".")), name="3"),
    ]
    found = read_resolvers(paths, Corpus([]))
    assert [(one.name, len(one)) for one in found] == [("neuralcoref@4.0", 2), ("neuralcoref@5", 1)]
    assert read_resolvers(paths, Corpus([]))[0] is found[0]
    paths[1].write_text(line(version="6") + "\n", encoding="utf-8")
    assert read_resolvers(paths, Corpus([]))[1].version == "6"
    with pytest.raises(DataError, match=r"neuralcoref@4\.0 has two documents 'x'"):
        read_resolvers([paths[0], paths[0]], Corpus([]))
