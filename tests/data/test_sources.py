"""Data are taken from the first place that has them, and which one is printed."""

import hashlib
import lzma
import tarfile
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from gapstack.audits import SUITES
from gapstack.data import gap_data, sources
from gapstack.data.gender import first_names
from gapstack.data.sources import DATASETS, DownloadError, RemoteFile
from gapstack.errors import DataError, DataNotFoundError, IntegrityError, MismatchError
from gapstack.files import cache_root, sha256
from gapstack.papers.word_lists import read_lists
from gapstack.registry import UnknownNameError
from scripts.embed_data import SUMS, archive

GAP = [f"gap-{split}" for split in gap_data.SPLITS]
HEADER = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
FILES = {
    f"gap-{split}.tsv": HEADER
    + f"{split}-1\tshe Ann Eve\tshe\t0\tAnn\t4\tTRUE\tEve\t8\tFALSE\thttp://{split}/1\n"
    + f"{split}-2\this Bob Tom\this\t0\tBob\t4\tFALSE\tTom\t8\tFALSE\thttp://{split}/2\n"
    for split in gap_data.SPLITS
}


def fill(folder, names=FILES):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(FILES[name])
    return folder


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """A current folder and a project without data, and small files published as GAP."""
    monkeypatch.delenv("GAP_DATA", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sources, "_PROJECT", tmp_path / "project")
    for file, text in FILES.items():
        name = file.removesuffix(".tsv")
        digest = hashlib.sha256(text.encode()).hexdigest()
        (remote,) = DATASETS[name].files
        published = replace(DATASETS[name], files=(remote._replace(sha256=digest),), rows=2)
        monkeypatch.setitem(DATASETS, name, published)


def served_at(monkeypatch, home):
    """Publish GAP's files at another address."""
    for split in gap_data.SPLITS:
        dataset = DATASETS[f"gap-{split}"]
        files = tuple(file._replace(url=f"{home}/gap-{split}.tsv") for file in dataset.files)
        monkeypatch.setitem(DATASETS, dataset.name, replace(dataset, files=files))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A server on this machine that serves the small files as GAP's home would."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("GAPSTACK_OFFLINE")
    served = fill(tmp_path / "home")

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=served)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_places_are_searched_in_their_order(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").touch()
    monkeypatch.setattr(sources, "_PROJECT", tmp_path / "away" / "project")
    places = [
        ("given", tmp_path / "given"),
        ("../shared/data", tmp_path / "shared" / "data" / "gap"),
        ("cache", cache_root() / "data" / "gap"),
    ]
    for _, folder in places:
        fill(folder)
    with sources.data_in(tmp_path / "given"):
        for origin, folder in places:
            assert sources.search("gap-test") == sources.DataLocation(folder / "gap-test.tsv", origin)
            assert sources.find("gap-test") == folder / "gap-test.tsv"
            for name in FILES:
                (folder / name).unlink()
    assert sources.find("gap-test") is None


def test_an_argument_data_is_searched_by_whatever_is_called(tmp_path):
    @sources.searches_data
    def found(data=None):
        return sources.find("gap-test")

    folder = fill(tmp_path / "mine")
    assert found(folder) == found(data=str(folder)) == folder / "gap-test.tsv"
    assert found() is None


def test_what_is_nowhere_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DataNotFoundError, match=r"shared/data.*cache.*kaggle\.com"):
        gap_data.stage2()
    with sources.data_in(tmp_path / "none"), pytest.raises(DataNotFoundError, match="data folder"):
        sources.find("gap-test")


def test_gap_is_loaded_whole_and_the_place_is_named(tmp_path, capsys):
    folder = fill(tmp_path / "mine")
    gap = gap_data.load_gap(folder)
    assert list(gap.splits) == ["development", "validation", "test"]
    assert gap.train.ids == ["development-1", "development-2", "validation-1", "validation-2"]
    assert gap.test.name == "gap-test"
    assert not gap.is_sample
    assert gap.source == f"GAP from {folder} (given)"
    assert capsys.readouterr().err == f"Data: {gap.source}, official labels\n"


def test_packed_files_are_found_and_changed_ones_used_with_a_warning(tmp_path, capsys):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.xz").write_bytes(lzma.compress(text.encode()))
    assert len(gap_data.load_gap(folder).train) == 4
    assert "Warning" not in capsys.readouterr().err
    (folder / "gap-test.tsv").write_text(FILES["gap-test.tsv"].replace("Tom", "Tim"))
    assert gap_data.load_gap(folder).test[1].b_text == "Tim"
    assert "differ from the published GAP: test" in capsys.readouterr().err


def test_a_named_folder_without_all_splits_is_not_passed_over(tmp_path):
    folder = fill(tmp_path / "mine", ["gap-test.tsv"])
    fill(tmp_path / "shared" / "data")
    with pytest.raises(DataNotFoundError, match=r"lacks gap-development\.tsv, gap-validation\.tsv"):
        gap_data.load_gap(folder)


def test_label_sets_are_applied_to_every_split(tmp_path):
    folder = fill(tmp_path / "mine")
    (folder / "corrections_liu.tsv").write_text(
        "ID\told_label\tnew_label\ntest-1\tA\tB\nvalidation-2\tNEITHER\tA\n"
    )
    gap = gap_data.load_gap(folder, label_set="liu")
    assert gap.train.label_set == gap.test.label_set == "liu"
    assert gap.train.labels.tolist() == [0, 2, 0, 0]
    assert gap.test.labels.tolist() == [1, 2]
    with pytest.raises(DataNotFoundError, match=r"corrections_liu\.tsv.*boliu61"):
        gap_data.relabel(gap.test, "majority")
    with pytest.raises(UnknownNameError, match="no label set"):
        gap_data.relabel(gap.test, "mine")


def test_the_sample_replaces_gap_with_a_warning(capsys, sample_train):
    gap = gap_data.load_gap()
    assert gap.is_sample
    assert gap.train.fingerprint == sample_train.fingerprint
    assert "Warning: GAP was not found" in capsys.readouterr().err
    with pytest.raises(MismatchError, match="no liu labels"):
        gap_data.load_gap(label_set="liu")


def test_gap_is_downloaded_where_it_is_nowhere(home, monkeypatch, capsys, tmp_path):
    served_at(monkeypatch, home + "/none")
    assert gap_data.load_gap().is_sample
    assert gap_data.load_gap("sample").is_sample
    assert "404" in capsys.readouterr().err
    served_at(monkeypatch, home)
    gap = gap_data.load_gap()
    assert gap.source.endswith("(cache)")
    assert not gap.is_sample
    (cache_root() / "data" / "gap" / "gap-validation.tsv").unlink()
    (tmp_path / "home" / "gap-validation.tsv").write_text("changed")
    with pytest.raises(IntegrityError):  # not replaced by the sample
        gap_data.load_gap()


def test_fetch_fills_the_cache_and_leaves_what_is_intact(home, monkeypatch, tmp_path):
    served_at(monkeypatch, home)
    paths = sources.fetch(GAP)
    assert [sha256(path) for path in paths] == [DATASETS[name].files[0].sha256 for name in GAP]
    assert {path.parent for path in paths} == {cache_root() / "data" / "gap"}
    paths[1].write_text("damaged")
    for name in ("gap-development.tsv", "gap-test.tsv"):
        (tmp_path / "home" / name).unlink()
    assert sources.fetch(GAP) == paths  # only the damaged one is downloaded
    assert paths[1].read_text() == FILES["gap-validation.tsv"]
    with pytest.raises(DownloadError, match="404"):
        sources.fetch(["gap-test"], again=True)


def test_a_damaged_cache_is_never_used():
    folder = fill(cache_root() / "data" / "gap")
    assert gap_data.gap_split("test").ids == ["test-1", "test-2"]
    (folder / "gap-test.tsv").write_text(FILES["gap-test.tsv"].replace("TRUE", "FALSE"))
    with pytest.raises(IntegrityError, match="gap data fetch"):
        gap_data.gap_split("test")


def test_fetch_refuses_what_has_no_public_file_and_stays_offline_when_told():
    with pytest.raises(DataNotFoundError, match="kaggle"):
        sources.fetch(["stage2"])
    with pytest.raises(DownloadError, match="GAPSTACK_OFFLINE"):
        sources.fetch(["gap-test"])
    fill(cache_root() / "data" / "gap")
    assert len(sources.fetch(GAP)) == 3


def test_status_lists_every_data_set_and_downloads_nothing(tmp_path):
    folder = fill(tmp_path / "mine", ["gap-test.tsv", "gap-validation.tsv"])
    (folder / "gap-validation.tsv").write_text(HEADER)
    with sources.data_in(folder):
        lines = {line.dataset.name: line for line in sources.status()}
    assert list(lines) == list(DATASETS)
    assert lines["gap-test"].location.origin == "given"
    assert (lines["gap-test"].rows, lines["gap-test"].intact) == (2, True)
    assert (lines["gap-validation"].rows, lines["gap-validation"].intact) == (0, False)
    assert (lines["gap-development"].location, lines["gap-development"].intact) == (None, None)
    assert lines["winogender"].location.origin == "embedded"
    assert all(line.dataset.licence and line.dataset.upstream for line in lines.values())


def test_a_folder_is_fetched_whole_or_not_at_all(home, tmp_path, monkeypatch):
    served = {"a.txt": b"one\n", "b.txt": b"two\n"}
    files = tuple(
        RemoteFile(f"{home}/{name}", hashlib.sha256(blob).hexdigest(), name) for name, blob in served.items()
    )
    monkeypatch.setitem(DATASETS, "dpr", replace(DATASETS["dpr"], files=files))
    (tmp_path / "home" / "a.txt").write_bytes(served["a.txt"])
    with pytest.raises(DownloadError, match="404"):
        sources.fetch(["dpr"])
    assert sources.find("dpr") is None
    (tmp_path / "home" / "b.txt").write_bytes(served["b.txt"])
    (folder,) = sources.fetch(["dpr"])
    assert sources.search("dpr") == sources.DataLocation(folder, "cache")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == served
    (folder / "b.txt").write_bytes(b"other")
    with pytest.raises(IntegrityError, match="gap data fetch dpr"):
        sources.find("dpr")
    assert sources.fetch(["dpr"]) == [folder]
    assert (folder / "b.txt").read_bytes() == b"two\n"


def test_published_figures_are_read_and_what_is_wrong_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("GAP_DATA", str(tmp_path))
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "dawkins2021.json").write_text('{"table1": {"GloVe": [72.3]}}')
    (tmp_path / "papers" / "webster2019.json").write_text("[]")
    assert sources.paper("dawkins2021") == {"table1": {"GloVe": [72.3]}}
    with pytest.raises(DataNotFoundError, match=r"no webster2018\.json"):
        sources.paper("webster2018")
    with pytest.raises(DataError, match=r"webster2019\.json"):
        sources.paper("webster2019")


def test_it_is_what_the_shared_folder_has(gap_folder):
    with tarfile.open(sources.ARCHIVE) as packed:
        for entry in packed:
            if entry.name != SUMS:
                assert packed.extractfile(entry).read() == (gap_folder / entry.name).read_bytes(), entry.name


def test_the_archive_can_be_written_again_from_itself():
    assert archive(sources.embedded_folder()) == sources.ARCHIVE.read_bytes()


def test_without_a_writable_cache_it_is_unpacked_elsewhere_and_downloads_are_refused(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path / "file" / "cache"))
    folder = sources.embedded_folder()
    assert (folder / "winogender").is_dir()
    assert sources.embedded_folder() == folder
    monkeypatch.delenv("GAPSTACK_OFFLINE")
    with pytest.raises(DataError, match="GAPSTACK_CACHE"):
        sources.fetch(["gap-test"])


def test_all_suites_with_a_free_licence_are_read_offline():
    assert {sources.search(name).origin for name, one in DATASETS.items() if one.embedded} == {"embedded"}
    for name in ("winogender", "sowinobias", "wsc273"):
        assert len(SUITES[name].load(cap=64).corpus)
    assert read_lists().sembias
    assert first_names().genders["Mary"] == "feminine"
