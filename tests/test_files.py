"""Files and folders that are whole or absent, on the disk before they have their name, with nothing left behind."""

import errno
import gzip
import lzma
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gapstack import files
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import (
    atomic_folder,
    atomic_path,
    discard,
    read_bytes,
    require_writable,
    sweep,
    write_text,
)


def test_a_file_is_on_the_disk_before_it_has_its_name_and_its_folder_after(tmp_path, monkeypatch):
    events, fsync, rename = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda at: (events.append(os.fstat(at).st_ino), fsync(at))[1])
    monkeypatch.setattr(os, "replace", lambda one, two: (events.append(Path(two).name), rename(one, two))[1])
    monkeypatch.setattr(os, "rename", os.replace)
    write_text(tmp_path / "a.txt", "x")
    assert events == [(tmp_path / "a.txt").stat().st_ino, "a.txt", tmp_path.stat().st_ino]


@pytest.mark.parametrize("kind", [atomic_path, atomic_folder])
def test_what_fails_leaves_the_old_and_nothing_else(tmp_path, kind):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail(temporary):
        (temporary / "part" if temporary.is_dir() else temporary).write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), kind(target) as temporary:
        fail(temporary)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "old"}


@pytest.mark.parametrize("kind", [atomic_path, atomic_folder])
def test_a_full_disk_is_reported_with_the_final_name(tmp_path, kind):
    with pytest.raises(OSError, match="No space") as failed, kind(tmp_path / "a.txt"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert failed.value.filename == str(tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())


def test_a_folder_replaces_anything_and_a_file_no_folder(tmp_path):
    for make in (lambda p: p.write_text("file"), lambda p: (p / "deep").mkdir(parents=True)):
        make(tmp_path / "x")
        with atomic_folder(tmp_path / "x") as folder:
            (folder / "new").touch()
        with pytest.raises(DataError, match="folder"):
            write_text(tmp_path / "x", "x")
        assert [path.name for path in (tmp_path / "x").iterdir()] == ["new"]
        discard(tmp_path / "x")


def test_discarding_follows_no_link(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "kept")
    discard(tmp_path / "gone")
    discard(tmp_path / "kept" / "file" / "below a file")
    discard(tmp_path / "absent")
    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "file"]


KILLED = """
import pathlib, sys, time
from gapstack.files import atomic_folder, atomic_path
folder = pathlib.Path(sys.argv[1])
with atomic_path(folder / "a.bin") as one, atomic_folder(folder / "b") as two:
    one.write_bytes(b"half")
    (two / "half").touch()
    print("ready", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_writer_left_is_swept_and_what_a_living_one_writes_is_not(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    (tmp_path / ".mine").touch()
    sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    child.send_signal(signal.SIGKILL)
    child.wait()
    sweep(tmp_path.parent)
    assert len(list(tmp_path.iterdir())) == 3
    sweep(tmp_path.parent, deep=True)
    assert [path.name for path in tmp_path.iterdir()] == [".mine"]


def test_what_a_writer_elsewhere_left_is_swept_after_a_day(tmp_path):
    with atomic_path(tmp_path / "a.bin") as temporary:
        name = re.sub(r"^\.writing-\w*-", ".writing-elsewhere-", temporary.name)
    (tmp_path / name).touch()
    sweep(tmp_path)
    assert (tmp_path / name).exists()
    yesterday = time.time() - 90_000
    os.utime(tmp_path / name, (yesterday, yesterday))
    sweep(tmp_path)
    assert not (tmp_path / name).exists()


PACK = {".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACK)
def test_every_truncation_and_every_flip_of_a_packed_file_is_noticed(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    content = b"".join(b"%d\t%d\n" % (i, i * i) for i in range(300))
    whole = PACK[suffix](content)
    for at in range(1, len(whole), 17):
        path.write_bytes(whole[:at])
        with pytest.raises(DataError, match="unpacked"):
            read_bytes(path)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        with suppress(DataError):
            assert read_bytes(path) == content  # a flip in gzip's header alone (its time, its system)


def test_what_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(DataNotFoundError, match="none"):
        read_bytes(tmp_path / "none.gz")
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / ("x" * 300), tmp_path / "file" / "below"):
        with pytest.raises(DataError, match=r"is a folder|cannot be opened"):
            read_bytes(path)


def test_a_scratch_cache_is_a_folder_of_its_own_that_vanishes(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path))
    with files.scratch_cache():
        inner = files.cache_root()
        (inner / "parses").mkdir()
        with files.scratch_cache():
            assert files.cache_root() != inner
        assert files.cache_root() == inner
    assert not inner.exists()
    assert files.cache_root() == tmp_path


def test_what_cannot_be_written_is_named_with_what_moves_it(tmp_path, monkeypatch):
    require_writable(tmp_path / "new" / "newer")
    assert not any(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(DataError) as refused:
        require_writable(tmp_path / "file" / "cache", "MY_CACHE")
    assert refused.value.place == Place(tmp_path / "file")
    assert "MY_CACHE" in refused.value.remedy

    def fail(**_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.tempfile, "TemporaryFile", fail)
    with pytest.raises(DataError, match="No space") as refused:
        require_writable(tmp_path / "new", "MY_CACHE")
    assert refused.value.place == Place(tmp_path)


def test_devices_and_pipes_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull), Path("/dev/stdout")):
        with pytest.raises(DataError, match="device"):
            write_text(path, "x")
    assert files.is_device(tmp_path / "pipe")
    (tmp_path / "file").touch()
    assert not any(map(files.is_device, (tmp_path, tmp_path / "file", tmp_path / "absent")))
