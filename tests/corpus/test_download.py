"""A download ends with the published bytes in place, or with an error and nothing in place."""

import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gapstack.corpus.download import DownloadError, download
from gapstack.errors import DataNotFoundError, IntegrityError

BODY = b"ID\tText\n" * 40_000
SUM = hashlib.sha256(BODY).hexdigest()
HALF = len(BODY) // 2


class Server(ThreadingHTTPServer):
    """Serves BODY in the ways that its paths name, and keeps the Range headers it was asked with."""

    daemon_threads = True

    def __init__(self):
        self.asked = []
        super().__init__(("127.0.0.1", 0), Handler)

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}/{path}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        way, wanted = self.path.strip("/"), self.headers.get("Range")
        self.server.asked.append(wanted)
        if way == "missing":
            self.send_error(404)
        elif way == "broken":
            self.send_error(503)
        elif way == "slow":
            time.sleep(0.6)
        elif way == "changed":
            self.send(200, BODY.replace(b"ID", b"XX"))
        elif way == "truncated":
            self.send(200, BODY[:HALF], stated=len(BODY))
        elif way == "no-ranges" and len(self.server.asked) > 1:
            self.send(200, BODY)
        elif wanted:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(BODY):
                self.send_error(416)
            else:
                self.send(206, BODY[start:])
        elif way in {"cut-once", "no-ranges"}:
            self.send(200, BODY[:HALF], stated=len(BODY))
        else:
            self.send(200, BODY)

    def send(self, status, body, stated=None):
        self.send_response(status)
        self.send_header("Content-Length", str(stated or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


def get(server, way, target, **options):
    return download(server.url(way), target, **({"sha256": SUM, "timeout": 5} | options))


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_good_file_arrives_alone(server, tmp_path):
    target = tmp_path / "new" / "gap.tsv"
    assert get(server, "good", target) == target
    assert target.read_bytes() == BODY
    assert left(target.parent) == ["gap.tsv"]


@pytest.mark.parametrize(
    ("way", "ranges"), [("cut-once", [None, f"bytes={HALF}-"]), ("no-ranges", [None, f"bytes={HALF}-"])]
)
def test_a_broken_transfer_goes_on_where_it_stopped_if_the_server_can(server, tmp_path, way, ranges):
    get(server, way, tmp_path / "gap.tsv")
    assert (tmp_path / "gap.tsv").read_bytes() == BODY
    assert server.asked == ranges


def test_a_later_call_goes_on_with_what_is_there(server, tmp_path):
    (tmp_path / "gap.tsv.part").write_bytes(BODY[:100])
    get(server, "good", tmp_path / "gap.tsv")
    assert server.asked == ["bytes=100-"]
    assert left(tmp_path) == ["gap.tsv"]


def test_a_leftover_as_long_as_the_file_is_started_over(server, tmp_path):
    (tmp_path / "gap.tsv.part").write_bytes(b"x" * (len(BODY) + 5))
    get(server, "good", tmp_path / "gap.tsv")
    assert (tmp_path / "gap.tsv").read_bytes() == BODY


def test_other_bytes_than_the_published_ones_are_thrown_away(server, tmp_path):
    with pytest.raises(IntegrityError, match=SUM):
        get(server, "changed", tmp_path / "gap.tsv")
    assert left(tmp_path) == []


def test_a_file_that_replaces_another_leaves_it_alone_until_it_is_whole(server, tmp_path):
    (tmp_path / "gap.tsv").write_bytes(b"old")
    for way, error in (("changed", IntegrityError), ("truncated", DownloadError)):
        with pytest.raises(error):
            get(server, way, tmp_path / "gap.tsv", attempts=1)
        assert (tmp_path / "gap.tsv").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("way", "attempts", "words"),
    [
        ("missing", 1, "404"),
        ("broken", 3, "503"),
        ("slow", 3, "timed out"),
        ("truncated", 3, f"after {HALF:,} of {len(BODY):,} bytes"),
    ],
)
def test_what_cannot_be_had_says_why_after_trying_as_often_as_makes_sense(
    server, tmp_path, way, attempts, words
):
    with pytest.raises(DownloadError, match="--data") as caught:
        get(server, way, tmp_path / "gap.tsv", timeout=0.1 if way == "slow" else 5)
    assert words in str(caught.value)
    assert isinstance(caught.value, DataNotFoundError)
    assert len(server.asked) == attempts
    assert "gap.tsv" not in left(tmp_path)


def test_no_server_at_all_is_the_same_kind_of_error(tmp_path, server):
    url = server.url("good")
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match="cannot download"):
        download(url, tmp_path / "gap.tsv", sha256=SUM, timeout=1, attempts=1)
