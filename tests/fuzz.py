"""Every reader with a small valid input, and mutations of bytes: a reader gives a result or a GapstackError.

The tests run a few seeded mutations of each; ``scripts/campaign.py`` runs as many as it is given.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import re
import struct
import tarfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from gapstack.audit.sowinobias import _vocabulary
from gapstack.comparison.learning_curves import read_curve
from gapstack.corpus import Corpus, Example, Label, Span, sources
from gapstack.corpus.augment import gender, gender_words
from gapstack.corpus.datasets import DATASETS
from gapstack.corpus.extra import conll, mined, occupations, pages, schemas
from gapstack.corpus.extra.extra_corpus import ExtraRows, read_text
from gapstack.corpus.folds import Folds
from gapstack.corpus.labels import read_corrections
from gapstack.corpus.page_files import read_pages
from gapstack.corpus.readers import read_gap, read_scorer_tsv, read_solution, read_submission
from gapstack.corpus.word_lists import _sembias, read_lists
from gapstack.corpus.writers import write_gap
from gapstack.errors import GapstackError
from gapstack.reproduce.webster2018_agreement import read_red
from gapstack.resolvers.clusters import read_clusters, text_sha256
from gapstack.resolvers.formats import detect, read_resolver
from gapstack.runs.recipe import Recipe
from gapstack.scoring import score_file, submit_check
from gapstack.vectors.static_vectors import read_vectors


@dataclass(frozen=True)
class Reader:
    """One reader of a kind of file.

    Attributes
    ----------
    valid : bytes
        A small input that it reads without error.
    suffix : str
        Of the file's name.
    read : callable
        Reads the file at a path.
    """

    valid: bytes
    suffix: str
    read: Callable[[Path], object]


def trial(reader: Reader, data: bytes, path: Path, *, seconds: float = 20.0) -> str | None:
    """Write ``data`` to ``path`` and read it: None, or what went wrong, an exception of another kind or the time."""
    path.write_bytes(data)
    begun = time.perf_counter()
    try:
        reader.read(path)
    except GapstackError as error:
        if not str(error).isprintable():
            return f"the message has characters that cannot be shown: {str(error)!r}"
    except (Exception, RecursionError):  # whatever it is, it is what we are looking for
        return traceback.format_exc()
    took = time.perf_counter() - begun
    return f"took {took:.0f} s" if took > seconds else None


# ---- mutations -----------------------------------------------------------------------------------------------

NUMBERS = (
    *(b"0", b"-1", b"-20", b"1e999", b"-0.0", b"1.5", b"10000000", b"2147483648", b"9223372036854775808"),
    *(b"999999999999", b"9" * 25, b"7" * 5000, b"NaN", b"Infinity", b"-Infinity", b"inf", b"0x1F", b"1_000"),
)
VALUES = (
    *(b"null", b"true", b"[]", b"{}", b'""', b'"text"', b"5", b"[[[]]]", b'{"a":{"b":[1]}}', b'"\\ud800"'),
    *(b'"\\u0000"', b"[" * 3000 + b"]" * 3000, b'{"a":' * 2000 + b"1" + b"}" * 2000, b"[" * 100_000),
)
CONTROLS = (
    *(
        b"\0",
        b"\x1b[31m",
        b"\r",
        b"\r\n",
        b"\n",
        b"\t",
        b",",
        b'"',
        b"\\",
        b"\x7f",
        b"\x85",
        b"\x0b",
        b"\xef\xbb\xbf",
    ),
    *("\u2028".encode(), "\u202e".encode(), "\u200b".encode(), "\U0001f600".encode(), "\u0660".encode()),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80"),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_VALUE = re.compile(rb'-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|null|true|false|\[[^\[\]]*\]|\{[^{}]*\}')
_FIELD = re.compile(rb"[^\t\n, ]+")

Mutation = Callable[[bytes, random.Random], bytes]


def flip(data: bytes, rng: random.Random) -> bytes:
    """Change one bit."""
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def insert(data: bytes, rng: random.Random) -> bytes:
    """Put random bytes somewhere."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.randint(1, 8)) + data[at:]


def control(data: bytes, rng: random.Random) -> bytes:
    """Put control characters, separators or broken UTF-8 somewhere."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(CONTROLS) + data[at:]


def delete(data: bytes, rng: random.Random) -> bytes:
    """Take some bytes out."""
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randint(1, 20) :]


def truncate(data: bytes, rng: random.Random) -> bytes:
    """Cut the end off."""
    return data[: rng.randrange(len(data))]


def lines(data: bytes, rng: random.Random) -> bytes:
    """Repeat, remove or swap lines."""
    found = data.split(b"\n")
    one, other = rng.randrange(len(found)), rng.randrange(len(found))
    match rng.randrange(3):
        case 0:
            found.insert(other, found[one])
        case 1:
            del found[one]
        case _:
            found[one], found[other] = found[other], found[one]
    return b"\n".join(found)


def swap(data: bytes, rng: random.Random) -> bytes:
    """Swap two fields."""
    found = list(_FIELD.finditer(data))
    if len(found) < 2:
        return data
    one, other = sorted(rng.sample(range(len(found)), 2))
    (a, b), (c, d) = found[one].span(), found[other].span()
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def replacement(pattern: re.Pattern[bytes], values: tuple[bytes, ...]) -> Mutation:
    """Put one of ``values`` in the place of something that the pattern matches."""

    def mutated(data: bytes, rng: random.Random) -> bytes:
        found = list(pattern.finditer(data))
        if not found:
            return data
        start, end = rng.choice(found).span()
        return data[:start] + rng.choice(values) + data[end:]

    return mutated


MUTATIONS: Mapping[str, Mutation] = {
    **{"flip": flip, "insert": insert, "control": control, "delete": delete, "truncate": truncate},
    **{"lines": lines, "swap": swap},
    "number": replacement(_NUMBER, NUMBERS),
    "value": replacement(_VALUE, VALUES),
    "field": replacement(_FIELD, (*NUMBERS, *VALUES, b"x" * 300)),
}
"""By name."""


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Apply one to three random mutations."""
    for name in rng.choices(list(MUTATIONS), k=rng.randint(1, 3)):
        if data:
            data = MUTATIONS[name](data, rng)
    return data


# ---- valid inputs --------------------------------------------------------------------------------------------

_SAMPLE = sources._SAMPLE / "gap-sample-train.tsv"
_GAP = b"\n".join(_SAMPLE.read_bytes().split(b"\n")[:5]) + b"\n"


def _unlabelled(data: bytes) -> bytes:
    rows = (line.split(b"\t") for line in data.removesuffix(b"\n").split(b"\n"))
    return b"".join(b"\t".join(cell for i, cell in enumerate(row) if i not in {6, 9}) + b"\n" for row in rows)


_IDS = [line.split(b"\t")[0] for line in _GAP.split(b"\n")[1:-1]]
_SCORER = b"".join(i + b"\tTRUE\tFALSE\n" for i in _IDS)
_SUBMISSION = b"ID,A,B,NEITHER\n" + b"".join(i + b",0.7,0.2,0.1\n" for i in _IDS)
_SOLUTION = b"ID,A,B,NEITHER,Usage\n" + b"".join(i + b",0,1,0,Public\n" for i in _IDS)
_CORRECTIONS = b"ID\told_label\tnew_label\ntest-1\tA\tB\ntest-2\tNEITHER\tUNCLEAR\ntest-3\tB\tA\n"

TEXT = "Ann Lee  met Beth. She didn't see her."
ROWS = Corpus(
    [
        Example("row-1", TEXT, Span(19, 22), Span(0, 7), Span(13, 17), None, Label.A),
        Example("row-2", TEXT + " Bo slept.", Span(19, 22), Span(0, 7), Span(13, 17), None, Label.A),
    ],
    name="rows",
)
_TOKENS = ["Ann", "Lee", "met", "Beth", ".", "She", "did", "n't", "see", "her", "."]
_BY_TOKEN = [[[0, 1], [5, 5]], [[3, 3], [9, 9]]]
_SPACY_TOKENS = [
    {"id": i, "start": TEXT.index(t, at), "end": TEXT.index(t, at) + len(t)}
    for i, (t, at) in enumerate(zip(_TOKENS, [0, 0, 0, 0, 0, 0, 0, 0, 30, 34, 37], strict=True))
]


def _sentence(tokens: list[str]) -> dict[str, Any]:
    return {"tokens": [{"index": i, "word": t, "originalText": t} for i, t in enumerate(tokens, 1)]}


def _mention(sentence: int, start: int, end: int) -> dict[str, int]:
    return {"sentNum": sentence, "startIndex": start, "endIndex": end}


_GROUP = [{"start": 0, "end": 7, "label": ""}, {"start": 19, "end": 22, "label": ""}]
_RESOLVERS: dict[str, Any] = {
    "neuralcoref": {
        **{"id": "row-1", "text": TEXT, "corefs": [["She", "Ann Lee"]]},
        "mentions": [[0, 7, "PROP", None, None, None], [19, 22, "PRON", -0.2, 0, 6.5, [6.5, 1.0]]],
    },
    "corenlp": {
        **{"docId": "row-1", "sentences": [_sentence(_TOKENS[:5]), _sentence(_TOKENS[5:])]},
        "corefs": {"3": [_mention(1, 1, 3), _mention(2, 1, 2)]},
    },
    "allennlp": {"id": "row-1", "document": _TOKENS, "clusters": _BY_TOKEN},
    "maverick": {"id": "row-1", "tokens": _TOKENS, "clusters_token_offsets": _BY_TOKEN},
    "fastcoref": {"id": "row-1", "text": TEXT, "clusters": [[[0, 7], [19, 22]], [[13, 17], [34, 37]]]},
    "spacy": {
        **{"id": "row-1", "text": TEXT, "tokens": _SPACY_TOKENS},
        "spans": {"coref_clusters_1": _GROUP, "sc": [{"start": 0, "end": 3, "label": "X"}]},
    },
    "coreferee": {
        **{"id": "row-1", "text": TEXT, "tokens": _SPACY_TOKENS},
        "_": {"coref_chains": [[[1], [5]], [[3], [9]]]},
    },
}
_CONLL = (
    "#begin document (row-1); part 000\n"
    + "".join(
        f"row-1   0   {i}   {token}   NN   *   -   -   -   *   {mention}\n"
        for i, (token, mention) in enumerate(
            zip(_TOKENS, ["(0", "0)", "-", "(1)", "-", "(0)", "-", "-", "-", "(1)", "-"], strict=True)
        )
    )
    + "\n#end document\n"
).encode()
_CLUSTERS = b"".join(
    json.dumps(
        {
            **{"id": row.id, "resolver": "r", "version": "1", "text_sha256": text_sha256(row.text)},
            **{"clusters": [[[0, 7], [19, 22]], [[13, 17]]], "mention_scores": [[0, 7, 0.5]]},
            "link_scores": [[19, 22, 0, 7, 3.5]],
        }
    ).encode()
    + b"\n"
    for row in ROWS
)
_GLOVE = b"the 0.1 0.2 -0.3\nshe 1 2 3e-1\nhe 0.5 0.25 0.125\n"
_BINARY = b"3 2\n" + b"".join(
    word + b" " + struct.pack("<2f", *numbers) + b"\n"
    for word, numbers in ((b"the", (0.1, 0.2)), (b"she", (1, 2)), (b"he", (-1, 0.5)))
)
_GUM = (
    b"#begin document GUM_one\n"
    b"Ann\t(person-1-Ann\nLee\tperson-1-Ann)\nmet\t_\nBeth\t(person-2)\n.\t_\n\n"
    b"She\t(person-1-Ann)\nslept\t_\n.\t_\n\n#end document\n"
)


def _tar(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for name, blob in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(blob)
            archive.addfile(about, io.BytesIO(blob))
    return packed.getvalue()


_NAMES = b"name,count_F,count_M,pct_F,first_year,last_year\n" + b"".join(
    f"{name},{f},{m},0.5,1880,2018\n".encode()
    for name, f, m in (("Ann", 90_000, 10), ("Sue", 80_000, 9), ("Bob", 8, 70_000), ("Tim", 7, 60_000))
)
_WINOBIAS = (
    b"1 [The developer] argued with the designer because [he] did not like the design.\n"
    b"2 The developer argued with [the designer] because [her] idea cannot be implemented.\n"
)
_SCHEMA = b"Ann thanked Sue because [MASK] was kind.\n[MASK]\nAnn,Sue\nSue\n\n"
_RECIPE = b"""name = "small"
title = "A small recipe"
labels = "official"
folds = 3
seed = 7
train = ["development"]
test = ["test"]
calibrators = ["temperature"]

[[members]]
name = "surface"
label = "trees"
settings = { rounds = 20 }

[[members]]
name = "parallelism"

[[stackers]]
name = "simplex"
"""
_FOLDS_OF = (("a", 0), ("b", 1), ("c", 2), ("d", 0))


@cache
def _folds() -> tuple[Corpus, bytes]:
    rows = Corpus(
        Example(
            name,
            f"{name} {TEXT}",
            *(Span(s.start + 2, s.end + 2) for s in (ROWS[0].pronoun, ROWS[0].a, ROWS[0].b)),
        )
        for name, _ in _FOLDS_OF
    )
    import numpy as np

    folds = Folds(np.array([fold for _, fold in _FOLDS_OF]), 3, 1, rows.fingerprint, rows.groups)
    record = {
        **{"k": 3, "seed": 1, "corpus": rows.fingerprint, "folds": folds.fingerprint},
        "assignment": folds.assignment.tolist(),
    }
    return rows, json.dumps(record, indent=2).encode()


# ---- readers -------------------------------------------------------------------------------------------------


def _among(
    dataset: str, file: str, read: Callable[..., object], *more: object, **others: bytes
) -> Callable[[Path], object]:
    """Read a file as one of a data set's, in a data folder that has the ``others`` by their paths."""

    def reading(path: Path) -> object:
        folder = path.parent / "data"
        contents = {f"{DATASETS[dataset].path}/{file}".rstrip("/"): path.read_bytes(), **others}
        for relative, blob in contents.items():
            target = folder / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(lzma.compress(blob, preset=0) if target.suffix == ".xz" else blob)
        gender._read_first_names.cache_clear()
        return read(*more, folder, ExtraRows())

    return reading


def _lists(file: str, blob: bytes) -> Reader:
    """A word list among valid others."""
    whole: dict[str, bytes] = {
        "definitional_pairs.json": b'[["woman", "man"], ["she", "he"]]',
        "equalize_pairs.json": b'[["monastery", "convent"]]',
        "gender_specific_full.json": b'["he", "she"]',
        "professions.json": b'[["nurse", 0.0, -0.2], ["actor", 1.0, 0.3]]',
        "SemBias.txt": b"priest:nun\tdog:bitch\tbook:magazine\tdoctor:nurse\n",
        "WEAT_wefe.json": b'{"career": ["office"], "family": ["home"]}',
        "sowinobias_vocab.json": b'{"occ_male": ["chef"], "occ_female": ["nurse"]}',
        "gn_glove_male_word_file.txt": b"he\nman\n",
        "gn_glove_female_word_file.txt": b"she\nwoman\n",
    }
    others: dict[str, bytes] = {f"wordlists/{name}": one for name, one in whole.items() if name != file}
    return Reader(
        blob or whole[file],
        Path(file).suffix,
        _among("wordlists", file, lambda data, into: read_lists(data), **others),
    )


_FIRST_NAMES = {"names/ssa_first_names_by_gender.csv.xz": _NAMES}
_BIAS_FILES = {
    f"winobias/{kind}_stereotyped_type{part}.txt.{split}": _WINOBIAS
    for kind in ("pro", "anti")
    for part in (1, 2)
    for split in ("dev", "test")
}
_MAP = (
    b"id,full-text,A,A-offset,B,B-offset,Pronoun,Pronoun-offset,Answer,Human1\n"
    b'new-1,"Ann met Beth, and ""she"" left\nBo.",Ann,0,Beth,8,she,19,0,4\n'
    b"new-1+ent,Mx met Beth and she left.,Mx,0,Beth,7,she,16,2,4\n"
)
_ATTREE = (
    b"id\ttext\tpronoun\tpronoun_offset\ta\ta_offset\ta_coref\tb\tb_offset\tb_coref\turl\n"
    b"test-1\tAnn met Beth when she left.\tshe\t18\tAnn\t0\tFalse\tBeth\t8\tFalse\thttp://x/Ann\n"
)
_KNOWREF = json.dumps(
    [
        {
            **{"sentence_with_pronoun": "Ann met Beth , but [she] left .", "candidate0": ["Ann"]},
            **{"candidate1": ["Beth"], "correct_candidate": ["Beth"]},
        }
    ]
).encode()
_KNOWREF_TRAIN = _KNOWREF.replace(b'["', b'"').replace(b'"]', b'"')
_WINOGRANDE = (
    b"index\tsentence1\tsentence2\tlabel\tcandidate0\tcandidate1\n"
    b"0\tAnn thanked Sue because Ann\t was glad.\t1\tAnn\tSue\n"
    b"0\tAnn thanked Sue because Sue\t was glad.\t0\tAnn\tSue\n"
)
_DEVELOPMENT = b"".join(
    json.dumps(
        {
            "sentence": "Ann thanked Sue because _ was kind.",
            "option1": "Ann",
            "option2": "Sue",
            "answer": right,
        }
    ).encode()
    + b"\n"
    for right in "12"
)


_PAGES = (
    b'{"id": "1", "url": "http://w/x", "text": "Ann met Eve. She left."}\n{"title": "T", "text": "No one."}\n'
)
_RED = (
    b"id\tname\tcategory\tpronoun\tA\tB\tgold\ttext\n"
    b"x-1\tA\troles\tshe\tAnn\tEve\tA\tAnn met Eve; she left.\nx-2\tB\t\the\tAl\tBo\tA\tAl met Bo; he left.\n"
)


def _gicoref(path: Path) -> object:
    into = ExtraRows()
    mined.every_pronoun(conll.parse(read_text(path), path, 2, 0), into, prefix="gicoref")
    return into


def _mined(path: Path) -> object:
    into = ExtraRows()
    mined.mine(conll.read_tar(path, "coref/gum/", 2, 0), into, prefix="gum")
    return into


@cache
def _sample() -> Corpus:
    return read_gap(_SAMPLE).take(range(len(_IDS)))


def _resolver(name: str | None, path: Path) -> object:
    return read_resolver(path, ROWS, format=name)


_HISTORY = b"".join(
    json.dumps({"phase": phase, "update": 8, "loss": 0.75, "validation": validation}).encode() + b"\n"
    for phase, validation in enumerate((0.5, None))
)

READERS: dict[str, Reader] = {
    "gap": Reader(_GAP, ".tsv", read_gap),
    "gap.gz": Reader(gzip.compress(_GAP, mtime=0), ".tsv.gz", read_gap),
    "gap.xz": Reader(lzma.compress(_GAP), ".tsv.xz", read_gap),
    "kaggle": Reader(_unlabelled(_GAP), ".tsv", read_gap),
    "gap, written again": Reader(
        _GAP, ".tsv", lambda path: write_gap(path.with_name("again.tsv"), read_gap(path))
    ),
    "scorer": Reader(_SCORER, ".tsv", read_scorer_tsv),
    "submission": Reader(_SUBMISSION, ".csv", read_submission),
    "solution": Reader(_SOLUTION, ".csv", read_solution),
    "score submission": Reader(_SUBMISSION, ".csv", lambda path: score_file(path, _sample())),
    "score scorer": Reader(_SCORER, ".tsv", lambda path: score_file(path, _sample())),
    "submit-check": Reader(_SUBMISSION, ".csv", lambda path: submit_check(path, _sample())),
    "corrections": Reader(_CORRECTIONS, ".tsv", read_corrections),
    "learning curve": Reader(_HISTORY, ".jsonl", read_curve),
    "clusters": Reader(_CLUSTERS, ".jsonl", read_clusters),
    "clusters with texts": Reader(_CLUSTERS, ".jsonl", lambda path: read_clusters(path, ROWS)),
    **{
        f"resolver {name}": Reader(json.dumps(record).encode() + b"\n", ".json", partial(_resolver, name))
        for name, record in _RESOLVERS.items()
    },
    "resolver conll2012": Reader(_CONLL, ".conll", partial(_resolver, "conll2012")),
    "resolver by its marks": Reader(
        json.dumps([_RESOLVERS["fastcoref"]], indent=1).encode(), ".json", partial(_resolver, None)
    ),
    "vectors glove": Reader(_GLOVE, ".txt", read_vectors),
    "vectors word2vec": Reader(b"3 3\n" + _GLOVE, ".vec", read_vectors),
    "vectors binary": Reader(_BINARY, ".bin", read_vectors),
    "vectors gz": Reader(gzip.compress(_GLOVE, mtime=0), ".txt.gz", read_vectors),
    "vectors xz": Reader(lzma.compress(_BINARY), ".bin.xz", read_vectors),
    "conll tar": Reader(_tar({"coref/gum/one.conll": _GUM}), ".tar.xz", _mined),
    "conll": Reader(_GUM, ".conll", _gicoref),
    "pages": Reader(_PAGES, ".jsonl", lambda path: list(read_pages(path))),
    "page of text": Reader(b"Ann met Eve.\n\nShe left.\n", ".txt", lambda path: list(read_pages(path))),
    "annotations of red pairs": Reader(_RED, ".tsv", read_red),
    "dpr": Reader(
        b"Ann thanked Sue because she was kind.\nshe\nAnn,Sue\nSue\n\n",
        ".txt",
        _among("dpr", "train.c.txt", schemas.read_dpr, "train"),
    ),
    "wsc273": Reader(_SCHEMA, ".txt", _among("wsc", "wsc273.txt", schemas.read_wsc273, **_FIRST_NAMES)),
    "winogrande": Reader(
        _WINOGRANDE, ".tsv", _among("winogrande", "train.tsv", schemas.read_winogrande, **_FIRST_NAMES)
    ),
    "winogrande development": Reader(
        _DEVELOPMENT,
        ".jsonl",
        _among("winogrande", "dev.jsonl", schemas.read_winogrande_development, **_FIRST_NAMES),
    ),
    "winogender": Reader(
        b"sentid\tsentence\ntechnician.customer.1.male.txt\tThe technician told the customer that he could pay.\n",
        ".tsv",
        _among("winogender", "all_sentences.tsv", occupations.read_winogender),
    ),
    "winobias": Reader(
        _WINOBIAS,
        ".txt",
        _among(
            "winobias",
            "pro_stereotyped_type1.txt.dev",
            occupations.read_winobias,
            "current",
            **{
                name: blob
                for name, blob in _BIAS_FILES.items()
                if not name.endswith("pro_stereotyped_type1.txt.dev")
            },
        ),
    ),
    "word pairs": Reader(
        b"actor\tactress\nboy\tgirl\n",
        ".txt",
        _among(
            "winobias",
            "generalized_swaps.txt",
            lambda data, into: gender_words.read_word_pairs(data),
            **{"winobias/extra_gendered_words.txt": b"uncle\taunt\n"},
        ),
    ),
    "knowref": Reader(_KNOWREF, ".json", _among("knowref", "knowref_test.json", pages.read_knowref, "test")),
    "knowref-train": Reader(
        _KNOWREF_TRAIN, ".json", _among("knowref", "knowref_train.json", pages.read_knowref, "train")
    ),
    "map": Reader(_MAP, ".csv", _among("gicoref-map", "map.csv", pages.read_map)),
    "neither-attree": Reader(_ATTREE, ".tsv", _among("neither-attree", "", pages.read_neither_attree)),
    "first names": Reader(
        _NAMES,
        ".csv",
        _among("names", "ssa_first_names_by_gender.csv.xz", lambda data, into: gender.first_names(data)),
    ),
    "word list pairs": _lists("definitional_pairs.json", b""),
    "word list professions": _lists("professions.json", b""),
    "word list sets": _lists("WEAT_wefe.json", b""),
    "sembias": Reader(b"priest:nun\tdog:bitch\tbook:magazine\tdoctor:nurse\n", ".txt", _sembias),
    "sowinobias": Reader(
        b'{"occ_female": ["nurse"], "occ_male": ["chef"], "adj_positive": ["kind"], "adj_negative": ["rude"]}',
        ".json",
        _vocabulary,
    ),
    "recipe": Reader(_RECIPE, ".toml", lambda path: Recipe.load(str(path))),
    "folds": Reader(_folds()[1], ".json", lambda path: Folds.load(path, _folds()[0])),
    "detect": Reader(_CLUSTERS, ".jsonl", detect),
}
"""By name; ``recipe`` is TOML, and the extra corpora are read in data folders made for them."""
