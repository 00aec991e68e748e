"""A finished tiny run for the tests of commands."""

import shutil

import pytest

from gapstack.data.gap_files import write_gap
from tests.commands import RECIPE, gap


@pytest.fixture(scope="session")
def finished(tmp_path_factory, sample_test):
    """A home with a finished tiny run on the sample, the recipe and the held-out rows as files; not to be changed."""
    root = tmp_path_factory.mktemp("home")
    (root / "tiny.toml").write_text(RECIPE)
    write_gap(root / "rows.tsv", sample_test.unlabelled())
    write_gap(root / "gold.tsv", sample_test)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_HOME", str(root))
        patch.setenv("GAPSTACK_CACHE", str(tmp_path_factory.mktemp("cache")))
        gap("run", root / "tiny.toml", "--data", "sample")
    return root


@pytest.fixture
def workplace(finished, tmp_path, monkeypatch):
    """A copy of that home, in which the test works."""
    place = tmp_path / "home"
    shutil.copytree(finished, place)
    monkeypatch.setenv("GAPSTACK_HOME", str(place))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(place)
    return place
