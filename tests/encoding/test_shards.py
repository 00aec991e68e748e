"""What was stored comes back to whoever has the key, in any order, and only what is missing is computed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.encoding import shards as module
from gapstack.encoding.shards import Ragged, Shards, content_key, ranges


def key(number: int) -> bytes:
    return content_key(bytes([number]))


class Source:
    """Computes entries that tell their number: ``a`` has as many as the number, ``b`` one of two values."""

    def __init__(self):
        self.asked: list[tuple[list[int], list[str]]] = []

    def fetch(self, store: Shards, numbers: list[int], names=("a", "b")) -> dict[str, Ragged]:
        def compute(rows, lacking):
            self.asked.append(([numbers[row] for row in rows], list(lacking)))
            chosen = np.array([numbers[row] for row in rows])
            entries = {
                "a": Ragged(np.repeat(chosen, chosen).astype(np.float16), chosen),
                "b": Ragged(np.stack([chosen, -chosen], axis=1), np.ones_like(chosen)),
            }
            return {name: entries[name] for name in lacking}

        return store.fetch([key(n) for n in numbers], names, compute, np.array(numbers), "counting")


@given(
    st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=20), min_size=1, max_size=4),
    st.integers(1, 6),
)
@settings(max_examples=30)
def test_every_entry_comes_back_whatever_was_asked_before(tmp_path_factory, requests, shard_rows):
    store, source = Shards(tmp_path_factory.mktemp("shards")), Source()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SHARD_ROWS", shard_rows)
        for numbers in requests:
            found = source.fetch(store, numbers)
            assert found["a"].sizes.tolist() == numbers
            assert [entry.tolist() for entry in found["a"].entries()] == [[n] * n for n in numbers]
            assert found["b"].values.tolist() == [[n, -n] for n in numbers]
    computed = [number for numbers, _ in source.asked for number in numbers]
    assert sorted(computed) == sorted(set().union(*requests))
    assert all(numbers == sorted(numbers) and len(numbers) <= shard_rows for numbers, _ in source.asked)


def test_only_names_that_lack_something_are_computed_and_others_stay_where_they_are(tmp_path):
    store, source = Shards(tmp_path), Source()
    source.fetch(store, [1, 2, 3], ["a"])
    found = source.fetch(store, [3, 2, 1], ["a", "b"])
    assert source.asked == [([1, 2, 3], ["a"]), ([1, 2, 3], ["b"])]
    assert found["a"].values.tolist() == [3, 3, 3, 2, 2, 1]
    assert found["b"].values[:, 0].tolist() == [3, 2, 1]
    assert len(list(tmp_path.glob("*.safetensors"))) == 2


def test_an_unfinished_file_is_no_shard(tmp_path):
    store, source = Shards(tmp_path), Source()
    source.fetch(store, [4, 5])
    (shard,) = tmp_path.glob("*.safetensors")
    (tmp_path / ".x-half.safetensors").write_bytes(shard.read_bytes()[:80])
    assert len(store.missing([key(4), key(6), key(6)], ["a"])) == 1


DAMAGES = {
    "flipped byte": lambda blob: blob[:-3] + bytes([blob[-3] ^ 1]) + blob[-2:],
    "flipped byte of the header": lambda blob: blob[:12] + bytes([blob[12] ^ 1]) + blob[13:],
    "cut off": lambda blob: blob[:80],
    "empty": lambda blob: b"",
    "foreign": lambda blob: b"not a shard",
    "longer": lambda blob: blob + b"x",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_shard_is_deleted_with_one_line_and_what_it_held_computed_again(damage, tmp_path, capsys):
    store, source = Shards(tmp_path), Source()
    source.fetch(store, [1, 2])
    (sound,) = tmp_path.glob("*.safetensors")
    source.fetch(store, [4, 5])
    (shard,) = set(tmp_path.glob("*.safetensors")) - {sound}
    shard.write_bytes(damage(shard.read_bytes()))
    source.asked.clear()
    found = source.fetch(store, [2, 5, 1])
    assert source.asked == [([5], ["a", "b"])]
    assert found["a"].values.tolist() == [2, 2, 5, 5, 5, 5, 5, 1]
    assert found["b"].values.tolist() == [[2, -2], [5, -5], [1, -1]]
    assert not shard.exists()
    (line,) = capsys.readouterr().err.splitlines()
    assert shard.name in line
    assert "computed again" in line


def test_a_shard_that_vanishes_before_it_is_read_is_computed_again(tmp_path, monkeypatch):
    store, source = Shards(tmp_path), Source()
    source.fetch(store, [3, 4])
    gather, calls = module._gather, []

    def vanishing(*arguments):
        if not calls:
            calls.extend(path.unlink() for path in tmp_path.glob("*.safetensors"))
        return gather(*arguments)

    monkeypatch.setattr(module, "_gather", vanishing)
    assert source.fetch(store, [4, 3])["b"].values.tolist() == [[4, -4], [3, -3]]
    assert len(calls) == 1


def test_a_shard_under_the_name_of_another_is_not_taken_for_it(tmp_path):
    store, source = Shards(tmp_path), Source()
    source.fetch(store, [1])
    source.fetch(store, [2])
    one, two = tmp_path.glob("*.safetensors")
    one.write_bytes(two.read_bytes())
    assert source.fetch(store, [1, 2])["b"].values.tolist() == [[1, -1], [2, -2]]


def test_no_keys_have_no_entries(tmp_path):
    found = Shards(tmp_path / "none").read([], ["a"])["a"]
    assert (len(found), found.entries(), len(found.values)) == (0, [], 0)


def test_ranges_lie_end_to_end():
    assert ranges(np.array([5, 0, 7]), np.array([2, 0, 3])).tolist() == [5, 6, 7, 8, 9]
