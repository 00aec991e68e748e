"""Every way in which a file can be bad is refused, with the place where it is bad."""

import gzip
import lzma

import pytest

from gapstack.data import Label, Quarantine, read_gap, read_scorer_tsv, read_submission
from gapstack.data.corpus import GAP_COLUMNS
from gapstack.data.gap_files import is_scorer_tsv, is_solution, read_solution
from gapstack.errors import DataError, DataNotFoundError

HEADER = "\t".join(GAP_COLUMNS)
#       0123456789012345678901234567
TEXT = "Ann met Eve when she sang in"


def gap_row(**changes):
    """A good GAP row, with some of its cells changed; None removes a cell."""
    cells = dict(
        zip(
            GAP_COLUMNS,
            ["r1", TEXT, "she", "17", "Ann", "0", "TRUE", "Eve", "8", "FALSE", "http://x/Ann"],
            strict=True,
        )
    )
    cells |= {name.replace("_", "-"): value for name, value in changes.items()}
    return "\t".join(value for value in cells.values() if value is not None)


def gap(*rows, header=HEADER):
    return ("\n".join([header, *rows]) + "\n").encode()


GOOD = gap_row()

# name: (file, line, column, a word of the message)
BAD_GAP = {
    "empty file": (b"", None, None, "empty"),
    "header only": (gap(), 1, None, "no rows"),
    "no header": (gap_row().encode() + b"\n", 1, None, "header"),
    "column missing": (gap(GOOD, header=HEADER.replace("\tURL", "")), 1, None, "URL"),
    "commas": (gap(GOOD, header=HEADER.replace("\t", ",")), 1, None, "with tabs"),
    "UTF-16": ("\ufeff".encode("utf-16-le") + gap(GOOD).decode().encode("utf-16-le"), 1, 1, "UTF-16"),
    "return inside": (gap(GOOD, gap_row(ID="r\r2")), 3, None, "carriage return"),
    "NUL": (gap(GOOD, gap_row(ID="r2", Text=TEXT + "\0")), 3, None, "NUL"),
    "Latin-1": (gap(GOOD, gap_row(ID="r2", Text=TEXT + "+")).replace(b"+", b"\xe9"), 3, None, "0xe9"),
    "cell missing": (gap(GOOD, gap_row(ID="r2", URL=None)), 3, None, "10 cells"),
    "cell extra": (gap(GOOD, gap_row(ID="r2", Text=TEXT + "\tand")), 3, None, "12 cells"),
    "empty line": (gap(GOOD, "", gap_row(ID="r2")), 3, None, "1 cells"),
    "id empty": (gap(GOOD, gap_row(ID=" ")), 3, "ID", "empty"),
    "id twice": (gap(GOOD, gap_row(ID="r2"), GOOD), 4, "ID", "line 2"),
    "offset off by one": (gap(gap_row(A_offset="1")), 2, "A-offset", "at 0"),
    "offset beyond": (gap(gap_row(B_offset="99")), 2, "B-offset", "at 8"),
    "mention nowhere": (gap(gap_row(B="Eva")), 2, "B-offset", "nowhere"),
    "mention empty": (gap(gap_row(A="")), 2, "A-offset", "''"),
    **{
        f"offset {offset:.9}": (gap(gap_row(A_offset=offset)), 2, "A-offset", "found")
        for offset in ("-1", "17.0", "1_7", "\u0661\u0667", "9" * 5000)
    },
    "pronoun unknown": (gap(gap_row(Pronoun="when", Pronoun_offset="12")), 2, None, "pronoun"),
    "names overlap": (gap(gap_row(B="Ann met", B_offset="0")), 2, None, "overlapping"),
    "label no boolean": (gap(gap_row(A_coref="1")), 2, "A-coref", "'1'"),
    "both TRUE": (gap(gap_row(B_coref="TRUE")), 2, "A-coref", "'TRUE'"),
}
SUBMISSION = b"ID,A,B,NEITHER\n"
BAD_SUBMISSION = {
    "header": (b"id,A,B,C\nr1,1,0,0\n", 1, None, "NEITHER"),
    **{
        f"number {number}": (SUBMISSION + f"r1,.1,{number},.2\n".encode(), 2, "B", "finite number from 0")
        for number in ("nan", "1e999", "-0.1", "half", "", "1_0", "\u0661")
    },
    "all zero": (SUBMISSION + b"r1,0,0.0,0\n", 2, "A", "all three"),
    "id twice": (SUBMISSION + b"r1,1,0,0\nr1,1,0,0\n", 3, "ID", "line 2"),
    "short": (SUBMISSION + b"r1,1,0\n", 2, None, "3 cells"),
    "open quote": (SUBMISSION + b'"r1,1,0,0\n', 2, None, "cannot be read"),
}
BAD_SCORER = {
    "number": (b"r1\tTRUE\tFALSE\nr2\t0\tFALSE\n", 2, "A-coref", "'0'"),
    "no id": (b"\tTRUE\tFALSE\n", 1, "ID", "empty"),
}
BAD = {
    f"{reader.__name__} {name}": (reader, "file.tsv", *bad)
    for reader, table in (
        (read_gap, BAD_GAP),
        (read_submission, BAD_SUBMISSION),
        (read_scorer_tsv, BAD_SCORER),
    )
    for name, bad in table.items()
} | {
    f"damaged {name} {len(blob)}": (read_gap, name, blob, None, None, "cannot be unpacked")
    for name, blob in (
        ("gap.tsv.gz", gap(GOOD)),
        ("gap.tsv.gz", gzip.compress(gap(GOOD), mtime=0)[:-12]),
        ("gap.tsv.xz", gap(GOOD)),
        ("gap.tsv.xz", lzma.compress(gap(GOOD))[:-12]),
    )
}


@pytest.mark.parametrize(("reader", "name", "blob", "line", "column", "words"), BAD.values(), ids=BAD)
def test_bad_files_are_refused_at_their_place(tmp_path, reader, name, blob, line, column, words):
    path = tmp_path / name
    path.write_bytes(blob)
    with pytest.raises(DataError) as caught:
        reader(path)
    place = caught.value.place
    assert (place.file, place.line, place.column) == (path, line, column)
    assert words in str(caught.value)


def test_a_file_that_is_not_there_is_told_apart_from_a_bad_one(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"gap\.tsv"):
        read_gap(tmp_path / "gap.tsv")
    with pytest.raises(DataError, match="folder"):
        read_gap(tmp_path)


def test_what_is_tolerated_is_read(tmp_path):
    path = tmp_path / "gap.tsv"
    row = gap_row(Text=TEXT + ' "\u2028in" Köln', A_coref="true", URL="")
    path.write_bytes(gap(row, header=HEADER.lower().replace("-", "_")).rstrip(b"\n"))
    (example,) = read_gap(path)
    assert (example.url, example.label, example.text[-4:]) == (None, 0, "Köln")


def test_quarantine_takes_every_bad_row_with_its_reason_and_lets_the_good_ones_through(tmp_path):
    source = tmp_path / "mine.tsv.gz"
    bad = {
        3: gap_row(ID="r4", A_offset="3").encode(),
        4: gap_row(ID="r3", Text=TEXT + "é").replace("é", "\0").encode(),
        5: GOOD.encode(),
        7: gap_row(ID="r5", Text=TEXT + "é").encode("latin-1"),
    }
    lines = {1: HEADER.encode(), 2: GOOD.encode(), 6: gap_row(ID="r4", B="Eve").encode(), **bad}
    source.write_bytes(gzip.compress(b"\n".join(lines[n] for n in sorted(lines)) + b"\n"))

    quarantine = Quarantine(tmp_path / "aside")
    assert read_gap(source, quarantine=quarantine).ids == ["r1", "r4"]
    assert len(quarantine.problems) == len(bad)
    assert [problem.place.line for problem in quarantine.problems] == sorted(bad)

    (written,) = quarantine.paths
    assert written == tmp_path / "aside" / "mine.quarantine.tsv"
    rows = [row.split(b"\t", 3) for row in written.read_bytes().split(b"\n")[1:-1]]
    assert {int(line): raw for line, _, _, raw in rows} == bad
    assert [column for _, column, _, _ in rows] == [b"A-offset", b"", b"ID", b""]
    assert b"at 0" in rows[0][2]


def test_quarantine_is_no_way_round_a_file_that_is_wrong_as_a_whole(tmp_path):
    path = tmp_path / "gap.tsv"
    for name in ("header only", "UTF-16", "column missing", "offset beyond"):
        path.write_bytes(BAD_GAP[name][0])
        with pytest.raises(DataError):
            read_gap(path, quarantine=Quarantine(tmp_path / "aside"))


@pytest.mark.parametrize(
    "change", [lambda blob: b"\xef\xbb\xbf" + blob, lambda blob: blob.replace(b"\n", b"\r\n")]
)
def test_files_of_excel_are_read(change, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(change(gap(GOOD)))
    (row,) = read_gap(path)
    assert (row.url, row.label is None) == (read_gap(_written(tmp_path, gap(GOOD)))[0].url, False)
    path.write_bytes(change(SUBMISSION + b"r1,1,0,0\n"))
    assert read_submission(path).ids == ["r1"]
    path.write_bytes(change(b"r1\tTRUE\tFALSE\n"))
    assert read_scorer_tsv(path).decisions.tolist() == [[1, 0]]


def _written(folder, blob):
    (folder / "plain.tsv").write_bytes(blob)
    return folder / "plain.tsv"


def test_probabilities_with_tabs_and_decisions_with_header_or_neither(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"ID\tA\tB\tNEITHER\nr1\t.5\t.25\t.25\n")
    assert not is_scorer_tsv(path)
    assert read_submission(path).probabilities.tolist() == [[0.5, 0.25, 0.25]]
    for blob in (
        b"ID\tA-coref\tB-coref\nr1\tTRUE\tFALSE\nr2\tFALSE\tFALSE\n",
        b"ID\tA_coref\tB_coref\tNEITHER\nr1\tTRUE\tFALSE\tFALSE\nr2\tFALSE\tFALSE\tTRUE\n",
        b"r1\tTRUE\tFALSE\tFALSE\nr2\tFALSE\tFALSE\tTRUE\n",
        b"ID\tA\tB\nr1\tTrue\tFalse\nr2\tFalse\tFalse\n",
        b"ID\tA\tB\tNEITHER\nr1\tTRUE\tFALSE\tFALSE\nr2\tFALSE\tFALSE\tTRUE\n",
    ):
        path.write_bytes(blob)
        assert is_scorer_tsv(path)
        assert read_scorer_tsv(path).decisions.tolist() == [[1, 0], [0, 0]]
    path.write_bytes(b"r1\tTRUE\tFALSE\tTRUE\n")
    with pytest.raises(DataError, match="as a name is"):
        read_scorer_tsv(path)


def test_the_solution_of_the_competition(tmp_path):
    path = tmp_path / "solution.csv"
    path.write_bytes(b"ID,A,B,NEITHER,Usage\r\nr1,1,0,0,Public\r\nr2,0,0,1,Private\r\n")
    assert is_solution(path)
    assert read_solution(path) == (["r1", "r2"], [Label.A, Label.NEITHER], ["Public", "Private"])
    with pytest.raises(DataError, match="gap score"):
        read_gap(path)
    for row in (b"r1,1,1,0,Public", b"r1,0.5,0.5,0,Public", b"r1,1,0,0, "):
        path.write_bytes(b"ID,A,B,NEITHER,Usage\n" + row + b"\n")
        with pytest.raises(DataError, match="line 2"):
            read_solution(path)
