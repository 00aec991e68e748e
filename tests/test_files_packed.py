"""Packed input: damage and bombs are one error, wherever packed files are read."""

import gzip
import io
import lzma
import tarfile
import tracemalloc
from contextlib import suppress

import pytest

from gapstack import files
from gapstack.data.cells import read_lines
from gapstack.data.extra.conll import read_tar
from gapstack.encoding.static_vectors import read_vectors
from gapstack.errors import DataError, DataNotFoundError
from gapstack.files import open_bytes, read_bytes

PACK = {".gz": gzip.compress, ".xz": lzma.compress}


LIMIT = 32 << 20


def bomb(suffix: str) -> bytes:
    """Some kilobytes that unpack to twice as much as may be."""
    blanks = b" " * (1 << 20) + b"\n"
    return PACK[suffix](b"a 1\n") + PACK[suffix](blanks * 16) * 4


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("read", [read_bytes, read_lines, read_vectors])
def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch, suffix, read):
    monkeypatch.setattr(files, "UNPACKED_BYTES", LIMIT)
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(bomb(suffix))
    assert files.UNPACKED_RATIO * path.stat().st_size < 2 * LIMIT
    tracemalloc.start()
    with pytest.raises(DataError, match=rf"bomb{suffix}: unpacks to more than"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * LIMIT


def test_a_bomb_in_an_archive_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED_BYTES", LIMIT)
    path = tmp_path / "bomb.tar.xz"
    with tarfile.open(path, "w:xz") as made:
        about = tarfile.TarInfo("elsewhere/zeros")
        about.size = 2 * LIMIT
        made.addfile(about, io.BytesIO(b"\0" * about.size))
    with pytest.raises(DataError, match="unpacks to more than"):
        list(read_tar(path, "coref/", 3, 1))


def test_a_user_may_allow_more_or_less(tmp_path, monkeypatch):
    path = tmp_path / "some.gz"
    path.write_bytes(gzip.compress(b"x" * 1000))
    monkeypatch.setenv("GAPSTACK_UNPACKED_LIMIT", "1000")
    assert len(read_bytes(path)) == 1000
    monkeypatch.setenv("GAPSTACK_UNPACKED_LIMIT", "999")
    with pytest.raises(DataError, match=r"some.gz: unpacks to more than 999 bytes.*GAPSTACK_UNPACKED_LIMIT"):
        read_bytes(path)
    monkeypatch.setenv("GAPSTACK_UNPACKED_LIMIT", "much")
    with pytest.raises(DataError, match="GAPSTACK_UNPACKED_LIMIT is 'much'"):
        read_bytes(path)


@pytest.mark.parametrize("suffix", PACK)
def test_every_truncation_and_every_flip_of_a_packed_file_is_noticed(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    content = b"".join(b"%d\t%d\n" % (i, i * i) for i in range(300))
    whole = PACK[suffix](content)
    for at in range(1, len(whole), 17):
        path.write_bytes(whole[:at])
        with pytest.raises(DataError, match="cannot be unpacked"):
            read_bytes(path)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        with suppress(DataError):
            assert read_bytes(path) == content  # a flip in gzip's header alone (its time, its system)


def test_what_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(DataNotFoundError, match="there is no file"):
        open_bytes(tmp_path / "none.gz")
    with pytest.raises(DataError, match="is a folder"):
        open_bytes(tmp_path)
    with pytest.raises(DataError, match="cannot be opened"):
        open_bytes(tmp_path / ("x" * 300))
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be opened"):
        open_bytes(tmp_path / "file" / "below")
