"""A page to try texts on, and the server behind it: the page at /, the answers for a text at /ask.

It listens on the loopback address. Any web site can make a browser send requests there, so requests for another host or
from another origin are refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from socket import MSG_PEEK
from threading import BoundedSemaphore, Lock
from typing import Any

from gapstack import __version__
from gapstack.data.cells import decode
from gapstack.display.web import render
from gapstack.errors import DataError, GapstackError
from gapstack.running_text.answer import Answers

LOOPBACK = "127.0.0.1"
MAX_BYTES = 1 << 24
"""Maximum size of a request."""

EXAMPLES = (
    "Barbara's father, Tom Hill, was a judge. He retired early, and she took over his farm with her husband Paul.",
    "Sophie Blanc won the race before Julia Stone. Her coach, Martin Reed, said that he had never doubted her.",
    "Anna thanked Dr. Weber after he had examined her daughter Marie.",
    "Kate told Mary that she should leave.",
)
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


Ask = Callable[[str, Callable[[], bool]], Answers | None]
"""Answers a text as long as the function given returns True; None if it stopped."""
MOST_WAITING = 256
"""Maximum number of requests that wait for an answer; more are refused with status 503."""
_CHECK_SECONDS = 0.25


class DemoServer(ThreadingHTTPServer):
    """Serves the page and the answers of ``ask``; DataError if the ``port`` (0: any free one) is not available.

    ``ask`` is called for one text at a time, and stops when its browser closes the connection;
    the page shows the message of its GapstackError, and ``model``, a description.
    """

    daemon_threads = True
    request_queue_size = 128  # connections that the system keeps until a thread takes them

    def __init__(self, ask: Ask, model: str, port: int = 0):
        self.ask, self.one_at_a_time = ask, Lock()
        self.waiting = BoundedSemaphore(MOST_WAITING)
        self.page = render(
            "gapstack.running_text.demo",
            {"examples": EXAMPLES},
            ["page.js"],
            title="Who is she?",
            parts=[("text", "Text"), ("json", "JSON")],
            examples=EXAMPLES,
            model=model,
            version=__version__,
        ).encode("utf-8")
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as problem:
            raise DataError(
                f"port {port} is not available ({problem.strerror})",
                remedy="Choose another with --port, or 0 for any free port",
            ) from None
        self.hosts = {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback of a bug; ignore a browser that closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """Address of the page."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: DemoServer
    timeout = 30  # seconds for a request to arrive

    def do_GET(self) -> None:
        if self._is_refused():
            return
        if self.path == "/":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
        else:
            self._problem(HTTPStatus.NOT_FOUND, f"nothing at {self.path}; the page is at /")

    def do_POST(self) -> None:
        if self._is_refused():
            return
        size = self.headers.get("Content-Length", "")
        if self.path != "/ask":
            self._problem(HTTPStatus.NOT_FOUND, f"nothing at {self.path}; send texts to /ask")
        elif not (size.isascii() and size.isdigit() and len(size) < 20):
            self._problem(HTTPStatus.BAD_REQUEST, "the request needs a valid Content-Length")
        elif int(size) > MAX_BYTES:
            self._problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the text has more than {MAX_BYTES:,} bytes")
        elif len(body := self.rfile.read(int(size))) < int(size):
            self._problem(HTTPStatus.BAD_REQUEST, "the request ended before its Content-Length")
        else:
            try:
                self._answer(decode(body, "the text"))
            except GapstackError as problem:
                self._problem(HTTPStatus.BAD_REQUEST, str(problem))

    def _answer(self, text: str) -> None:
        """Wait for the turn of a text, and send its answers; nothing if the browser has gone."""
        if not self.server.waiting.acquire(blocking=False):
            self._problem(HTTPStatus.SERVICE_UNAVAILABLE, "too many texts are waiting; try again in a while")
            return
        try:
            while not self.server.one_at_a_time.acquire(timeout=_CHECK_SECONDS):
                if not self._is_open():
                    return
            try:
                answers = self.server.ask(text, self._is_open)
            finally:
                self.server.one_at_a_time.release()
        finally:
            self.server.waiting.release()
        if answers is not None:
            self._send_json(HTTPStatus.OK, answers.to_dict())

    def _is_open(self) -> bool:
        """False if the browser has closed the connection."""
        readable, _, _ = select([self.connection], [], [], 0)
        try:
            return not readable or self.connection.recv(1, MSG_PEEK) != b""
        except OSError:  # reset
            return False

    def _is_refused(self) -> bool:
        """Refuse a malformed request or one from another site; True if refused."""
        hosts, origin = self.headers.get_all("Host", []), self.headers.get("Origin")
        if len(hosts) > 1:
            self._problem(HTTPStatus.BAD_REQUEST, "more than one Host header")
        elif not self.server.hosts.issuperset(hosts or [""]) or origin not in (None, f"http://{hosts[0]}"):
            self._problem(HTTPStatus.FORBIDDEN, "requests from other sites are refused")
        else:
            return False
        return True

    def _problem(self, status: HTTPStatus, problem: str) -> None:
        self._send_json(status, {"problem": problem})

    def _send_json(self, status: HTTPStatus, record: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(record).encode("ascii"))

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **_HEADERS}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: a line per keystroke would not help."""
