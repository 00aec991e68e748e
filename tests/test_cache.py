"""Cache files are known by their bytes, whoever damages or deletes them, and killed writers leave nothing for long."""

import subprocess
import sys

from gapstack.cache import intact_files, store

WRITER = """
import os, sys
from pathlib import Path
from gapstack.files import atomic_path
with atomic_path(Path(sys.argv[1]) / "a.bin") as temporary:
    temporary.write_bytes(b"half")
    os._exit(9)
"""


def test_what_is_stored_is_sound_until_it_is_damaged(tmp_path, capsys):
    one, two = store(tmp_path, b"one", ".bin"), store(tmp_path, b"two", ".bin")
    assert intact_files(tmp_path, ".bin") == sorted([one, two])
    assert store(tmp_path, b"one", ".bin") == one
    one.write_bytes(b"onE")
    assert intact_files(tmp_path, ".bin") == [two]
    assert not one.exists()
    assert one.name in capsys.readouterr().err
    assert intact_files(tmp_path / "nowhere", ".bin") == []


def test_a_label_tells_files_apart(tmp_path):
    mine, other = store(tmp_path, b"x", ".bin", "mine-"), store(tmp_path, b"y", ".bin", "other-")
    assert (intact_files(tmp_path, ".bin", "mine-"), intact_files(tmp_path, ".bin", "other-")) == (
        [mine],
        [other],
    )


def test_what_a_killed_writer_left_is_swept(tmp_path):
    writer = subprocess.run([sys.executable, "-c", WRITER, str(tmp_path)], check=False)
    assert writer.returncode == 9
    assert len(list(tmp_path.iterdir())) == 1
    assert intact_files(tmp_path, ".bin") == []
    assert list(tmp_path.iterdir()) == []
