"""A reader gives a result or a GapstackError, whatever bytes it is given; more of it: ``scripts/campaign.py``."""

import random
import zlib

import pytest

from tests.fuzz import READERS, mutate, trial

COUNT = 150


@pytest.mark.parametrize("name", READERS)
def test_valid_input_is_read(name, tmp_path):
    path = tmp_path / f"valid{READERS[name].suffix}"
    path.write_bytes(READERS[name].valid)
    READERS[name].read(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_mutated_input_gives_a_result_or_one_clear_error(name, tmp_path):
    rng = random.Random(zlib.crc32(name.encode()))
    path = tmp_path / f"mutated{READERS[name].suffix}"
    for number in range(COUNT):
        data = mutate(READERS[name].valid, rng)
        problem = trial(READERS[name], data, path)
        assert problem is None, f"mutation {number}: {data[:500]!r}\n{problem}"
