"""What comes with the package is upstream's, byte for byte, and is enough for an audit where nothing else is."""

import tarfile

import pytest

from gapstack.audits import SUITES
from gapstack.data import sources
from gapstack.data.gender import first_names
from gapstack.data.sources import ARCHIVE, DATASETS, embedded_folder
from gapstack.data.word_lists import read_lists
from scripts.embed_data import SUMS, archive


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine with the package alone."""
    monkeypatch.delenv("GAP_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "_PROJECT", tmp_path / "project")


def test_it_is_what_the_shared_folder_has(gap_folder):
    with tarfile.open(ARCHIVE) as packed:
        for entry in packed:
            if entry.name != SUMS:
                assert packed.extractfile(entry).read() == (gap_folder / entry.name).read_bytes(), entry.name


def test_the_archive_can_be_written_again_from_itself():
    assert archive(embedded_folder()) == ARCHIVE.read_bytes()


def test_all_suites_with_a_free_licence_are_read_offline(nowhere):
    assert {sources.search(name).origin for name, one in DATASETS.items() if one.embedded} == {"embedded"}
    for name in ("winogender", "sowinobias", "wsc273"):
        assert len(SUITES[name].load(cap=64).corpus)
    assert read_lists().sembias
    assert first_names().genders["Mary"] == "feminine"
