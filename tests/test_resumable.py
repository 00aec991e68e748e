"""What was computed is kept, and nothing is computed that the disk has no room for."""

from collections import namedtuple

import pytest

from gapstack import resumable as module
from gapstack.errors import DataError
from gapstack.resumable import Chunk, resumable

Usage = namedtuple("Usage", "total used free")
CHUNKS = [Chunk(f"key{number}", 1, f"chunk {number}", number) for number in range(3)]


@pytest.fixture
def computed():
    return []


@pytest.fixture
def write(tmp_path, computed):
    def compute(number: int) -> bytes:
        computed.append(number)
        return str(number).encode()

    def written() -> list[bytes]:
        with resumable(tmp_path / "out", iter(CHUNKS), compute, total=3) as results:
            return list(results)

    return written


def test_a_full_disk_is_found_before_a_chunk_is_computed_and_costs_none(
    tmp_path, monkeypatch, computed, write
):
    free = iter([2**30, 2**30, 1000])
    with monkeypatch.context() as patch:
        patch.setattr(module.shutil, "disk_usage", lambda _: Usage(2**30, 0, next(free)))
        with pytest.raises(DataError) as refused:
            write()
    assert refused.value.place.file == tmp_path / "out.partial"
    assert "another output" in refused.value.remedy
    assert computed == [0, 1]
    assert write() == [b"0", b"1", b"2"]
    assert computed == [0, 1, 2]
    assert not any(tmp_path.iterdir())


def test_without_room_for_the_first_chunk_nothing_is_left(tmp_path, monkeypatch, computed, write):
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: Usage(2**20, 2**20, 0))
    with pytest.raises(DataError, match="MB"):
        write()
    assert not computed
    assert not any(tmp_path.iterdir())
