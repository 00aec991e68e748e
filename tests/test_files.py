"""Files and folders that are whole or absent, on the disk before they have their name, with nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gapstack import files
from gapstack.errors import DataError
from gapstack.files import atomic_folder, atomic_path, by_content, contents, discard, sweep, write_text


@pytest.fixture
def disk(monkeypatch):
    """What happens, in order: the inodes that were flushed, and the names that were given."""
    events = []
    fsync, rename = os.fsync, os.rename
    monkeypatch.setattr(
        os, "fsync", lambda handle: (events.append(os.fstat(handle).st_ino), fsync(handle))[1]
    )
    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, lambda one, two: (events.append(Path(two).name), rename(one, two))[1])
    return events


def test_a_file_is_on_the_disk_before_it_has_its_name_and_its_folder_after(tmp_path, disk):
    write_text(tmp_path / "a.txt", "x")
    assert disk == [(tmp_path / "a.txt").stat().st_ino, "a.txt", tmp_path.stat().st_ino]


def test_a_folder_goes_to_the_disk_once_with_all_that_is_in_it(tmp_path, disk):
    with atomic_folder(tmp_path / "whole") as folder:
        write_text(folder / "a.txt", "x")
        with atomic_folder(folder / "inner") as inner:
            write_text(inner / "b.txt", "y")
        assert disk == ["a.txt", "b.txt", "inner"]
        del disk[:]
    there = {path.stat().st_ino for path in (tmp_path / "whole", *(tmp_path / "whole").rglob("*"))}
    assert set(disk[:-2]) == there
    assert disk[-2:] == ["whole", tmp_path.stat().st_ino]


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


def test_a_folder_takes_the_place_of_whatever_lay_there(tmp_path):
    for make in (lambda p: p.write_text("file"), lambda p: (p / "deep").mkdir(parents=True)):
        make(tmp_path / "x")
        with atomic_folder(tmp_path / "x") as folder:
            (folder / "new").touch()
        assert [path.name for path in (tmp_path / "x").iterdir()] == ["new"]
        discard(tmp_path / "x")


def test_a_folder_in_the_way_of_a_file_is_never_deleted(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(DataError, match=r"mine: a folder is in the way.*Move it away"):
        write_text(tmp_path / "mine", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_discarding_follows_no_link_and_needs_no_permission_but_ones_own(tmp_path):
    (tmp_path / "kept").mkdir(mode=0o750)
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "gone" / "shut").mkdir(parents=True)
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "gone" / "shut").chmod(0)
    discard(tmp_path / "gone")
    discard(tmp_path / "kept" / "file" / "below a file")
    discard(tmp_path / "absent")
    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "file"]
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o750


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
    below = tmp_path / "deep" / "er"
    below.mkdir(parents=True)
    for left in list(tmp_path.glob(".writing-*")):
        left.rename(below / left.name)
    sweep(tmp_path)
    assert len(list(below.iterdir())) == 2
    sweep(tmp_path, deep=True)
    assert {path.name for path in tmp_path.rglob("*")} == {".mine", "deep", "er"}


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


def test_the_same_contents_are_read_once_and_others_anew(tmp_path):
    read_files = []

    @by_content(lambda *paths: contents(paths), most=2)
    def texts(*paths):
        read_files.extend(paths)
        return [path.read_text() for path in paths]

    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("1")
    assert texts(one) is texts(two), "the same contents under another name"
    assert read_files == [one]
    two.write_text("2")
    assert texts(two) == ["2"]
    one.write_text("3")
    assert texts(one) == ["3"]
    two.write_text("1")
    assert texts(two) == ["1"]
    assert read_files == [one, two, one, two], "the oldest result was forgotten"
    with pytest.raises(FileNotFoundError):
        texts(tmp_path / "none")


def test_what_changes_while_it_is_read_is_not_remembered(tmp_path):
    path, texts = tmp_path / "file", []

    @by_content(lambda: contents([path]))
    def read():
        texts.append(path.read_text())
        path.write_text("2")

    for text in ("1", "1", "2", "2"):
        path.write_text(text)
        read()
    assert texts == ["1", "1", "2"]


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
