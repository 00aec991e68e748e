"""The content store returns what was stored, or computes it again; the memory evicts what was used longest ago."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack import cache as module
from gapstack.cache import Memory, Ragged, content_key, fetch_arrays
from gapstack.errors import DataError
from tests.damage import apply_damage


def key(number: int) -> bytes:
    return content_key(bytes([number]))


class Source:
    """Computes entries that tell their number: ``a`` has as many as the number, ``b`` one of two values."""

    def __init__(self):
        self.asked: list[tuple[list[int], list[str]]] = []

    def fetch(self, folder: Path, numbers: list[int], names=("a", "b")) -> dict[str, Ragged]:
        def compute(rows, lacking):
            self.asked.append(([numbers[row] for row in rows], list(lacking)))
            chosen = np.array([numbers[row] for row in rows])
            entries = {
                "a": Ragged(np.repeat(chosen, chosen).astype(np.float16), chosen),
                "b": Ragged(np.stack([chosen, -chosen], axis=1), np.ones_like(chosen)),
            }
            return {name: entries[name] for name in lacking}

        return fetch_arrays(folder, [key(n) for n in numbers], names, compute, np.array(numbers), "counting")


@given(
    st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=20), min_size=1, max_size=4), st.integers(1, 6)
)
@settings(max_examples=30)
def test_every_entry_comes_back_whatever_was_asked_before(tmp_path_factory, requests, shard_rows):
    folder, source = tmp_path_factory.mktemp("shards"), Source()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SHARD_ROWS", shard_rows)
        for numbers in requests:
            found = source.fetch(folder, numbers)
            assert found["a"].sizes.tolist() == numbers
            assert [entry.tolist() for entry in found["a"].entries()] == [[n] * n for n in numbers]
            assert found["b"].values.tolist() == [[n, -n] for n in numbers]
    computed = [number for numbers, _ in source.asked for number in numbers]
    assert sorted(computed) == sorted(set().union(*requests))
    assert all(numbers == sorted(numbers) and len(numbers) <= shard_rows for numbers, _ in source.asked)


@pytest.mark.parametrize("kind", ["flip", "halve", "empty", "garbage", "append"])
def test_a_damaged_shard_is_deleted_with_one_line_and_what_it_held_computed_again(kind, tmp_path, capsys):
    source = Source()
    source.fetch(tmp_path, [1, 2])
    (sound,) = tmp_path.glob("*.safetensors")
    source.fetch(tmp_path, [4, 5])
    (shard,) = set(tmp_path.glob("*.safetensors")) - {sound}
    apply_damage(shard, kind, random.Random(0))
    source.asked.clear()
    found = source.fetch(tmp_path, [2, 5, 1])
    assert source.asked == [([5], ["a", "b"])]
    assert found["a"].values.tolist() == [2, 2, 5, 5, 5, 5, 5, 1]
    assert found["b"].values.tolist() == [[2, -2], [5, -5], [1, -1]]
    assert not shard.exists()
    (line,) = capsys.readouterr().err.splitlines()
    assert shard.name in line


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=6), st.integers(1, 12))
def test_values_are_right_and_computed_once_while_there_is_room(calls, most):
    memory, computed = Memory(most), []

    def square(keys):
        def compute(positions):
            computed.extend(keys[p] for p in positions)
            return [keys[p] ** 2 for p in positions]

        return compute

    for keys in calls:
        before = len(computed)
        assert memory.fetch(keys, square(keys)) == [key**2 for key in keys]
        fresh = computed[before:]
        assert len(fresh) == len(set(fresh)), "a value was computed twice in one call"
    if most >= 10:
        assert len(computed) == len(set(computed)), "a remembered value was computed again"


def test_least_recently_used_values_are_evicted_first():
    memory, computed = Memory(2), []
    for key in "abacab":
        memory.fetch([key], lambda positions, key=key: computed.append(key) or positions)
    assert computed == ["a", "b", "c", "b"]
    memory.forget()
    assert memory.fetch("ab", lambda positions: [7 for _ in positions]) == [7, 7]


def test_an_unwritable_cache_is_refused_before_anything_is_computed(tmp_path):
    (tmp_path / "file").touch()
    computed = []
    with pytest.raises(DataError, match="GAPSTACK_CACHE"):
        fetch_arrays(
            tmp_path / "file" / "cache",
            [content_key(b"a")],
            ["x"],
            lambda *_: computed.append(1),
            np.ones(1),
            "x",
        )
    assert not computed
