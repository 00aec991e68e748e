"""Downloads that end with the published bytes or with an error."""

from __future__ import annotations

import http.client
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from gapstack.errors import DataNotFoundError, IntegrityError
from gapstack.files import sha256 as sha256_of
from gapstack.progress import progress

_CHUNK = 1 << 16


class DownloadError(DataNotFoundError):
    """A download failed for a reason of the network or the server; the file's content was never at issue."""


def download(url: str, target: Path, *, sha256: str, timeout: float = 30.0, attempts: int = 3) -> Path:
    """Download ``url`` to ``target`` and give ``target``, which appears only whole and checked.

    A transfer that breaks off leaves ``<target>.part``, from which the next attempt or the next call goes on if the
    server can. Raises DownloadError if the file cannot be had; IntegrityError if the bytes are not the published ones;
    they are deleted.

    Parameters
    ----------
    sha256 : str
        Published checksum in hexadecimal.
    timeout : float
        Seconds to wait for the server's next bytes.
    attempts : int
        How often to try while the server does not answer, breaks off or has an error of its own (5xx).
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(1, attempts + 1):
        try:
            _receive(url, part, timeout)
            break
        except (OSError, http.client.HTTPException) as problem:  # URLError and timeouts are OSErrors
            status = problem.code if isinstance(problem, HTTPError) else None
            if status == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.unlink()  # left by a longer version of the file
            final = status is not None and status < 500 and status != 416
            if final or attempt == attempts:
                raise DownloadError(
                    f"cannot download {url}: {problem or type(problem).__name__} (attempt {attempt} of {attempts}). "
                    "Check the network, or get the file by hand and name its folder with --data"
                ) from problem
    actual = sha256_of(part)
    if actual != sha256:
        part.unlink()
        raise IntegrityError(
            f"{url}: SHA-256 of what was downloaded is {actual}; expected {sha256}. Nothing was kept. Try again; "
            "if it stays so, something between here and the server changes files"
        )
    part.replace(target)
    return target


def _receive(url: str, part: Path, timeout: float) -> None:
    """Append to ``part`` what it lacks; ConnectionError if the server ends before its stated length."""
    have = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"User-Agent": "gapstack"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urlopen(request, timeout=timeout) as response:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0  # the server sends all of it again
        stated = response.headers.get("Content-Length")
        end = have + int(stated) if stated else None
        with (
            progress(f"Downloading {part.stem}", end or have) as bar,
            part.open("ab" if have else "wb") as stream,
        ):
            bar.advance(have)
            while chunk := response.read(_CHUNK):
                stream.write(chunk)
                have += len(chunk)
                bar.advance(len(chunk))
    if end is not None and have < end:
        raise ConnectionError(f"the server ended after {have:,} of {end:,} bytes")
