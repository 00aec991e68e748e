"""Fixtures that every room's tests share: the real data if they are there, the sample, and no network."""

from pathlib import Path

import pytest
from hypothesis import settings

from gapstack.data import Corpus, gap_data, sources

pytest_plugins = [
    f"tests.fixtures_{name}" for name in ("encoder", "language_models", "comparison", "browser", "text")
]

# The same examples in every run, and no time limit for one of them: a busy machine is no bug.
settings.register_profile("gapstack", deadline=None, derandomize=True)
settings.load_profile("gapstack")


@pytest.fixture(autouse=True)
def _no_network_and_a_cache_of_its_own(monkeypatch, tmp_path_factory):
    """Tests neither download anything nor see each other's cache, or the user's."""
    monkeypatch.setenv("GAPSTACK_OFFLINE", "1")
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="session")
def gap_folder() -> Path:
    """The real data folder (``gap/gap-test.tsv`` and the rest below it), or a skip where there is none."""
    found = sources.find("gap-test")
    if found is None:
        pytest.skip("the GAP corpus is not on this machine (see `gap data status`)")
    if found.parent.name != "gap":
        pytest.skip(f"{found.parent} holds GAP alone, without the other data sets these tests read")
    return found.parent.parent


@pytest.fixture(scope="session")
def gap_splits(gap_folder) -> dict[str, Corpus]:
    """Development, validation and test of the real GAP with official labels."""
    return {split: gap_data.gap_split(split) for split in gap_data.SPLITS}


@pytest.fixture(scope="session")
def sample_train() -> Corpus:
    """Training part of the embedded sample."""
    return gap_data.sample()["train"]


@pytest.fixture(scope="session")
def sample_test() -> Corpus:
    """Held-out part of the embedded sample."""
    return gap_data.sample()["test"]


@pytest.fixture(scope="session")
def sample(sample_train, sample_test) -> Corpus:
    """Both parts of the embedded sample, one after the other."""
    return sample_train + sample_test
