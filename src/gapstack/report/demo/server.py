"""The server of the page: the page itself at /, and the answers about a text at /ask.

It listens on the loopback address. Any web site can make a browser send requests there, so requests that name another
host, or that come from another origin, are refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from gapstack import __version__
from gapstack.antecedents.answer import Answers
from gapstack.corpus.page_files import decoded
from gapstack.errors import DataError, GapstackError
from gapstack.report.web import render

LOOPBACK = "127.0.0.1"
LARGEST = 1 << 24
"""Bytes of a request's text that are read; a text within ``ask``'s own limit has fewer."""

EXAMPLES = (
    "Kate told Mary that she should leave.",
    "Marie met Anna at the clinic, and after Dr. Weber had examined her, she thanked him.",
    "When Ellen asked Ruth about the will, her lawyer Paul said that he had given it to her sister.",
)


class DemoServer(ThreadingHTTPServer):
    """Serves the page and what ``ask`` says about texts.

    Parameters
    ----------
    ask : callable
        Gives the answers about a text, for one text at a time; a GapstackError becomes the page's message.
    model : str
        What answers, in words.
    port : int
        0 for any that is free.

    Raises
    ------
    DataError
        If the port cannot be had.
    """

    daemon_threads = True

    def __init__(self, ask: Callable[[str], Answers], model: str, port: int = 0):
        self.ask, self.one_at_a_time = ask, Lock()
        self.page = page(model).encode("utf-8")
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as problem:
            raise DataError(
                f"port {port} cannot be had ({problem.strerror})",
                remedy="Name another with --port, or 0 for any that is free",
            ) from None
        self.hosts = {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback of a bug; a browser that has gone away is none."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """Address of the page."""
        return f"http://{LOOPBACK}:{self.server_port}/"


def page(model: str) -> str:
    """The page as HTML."""
    return render(
        "gapstack.report.demo",
        {"examples": EXAMPLES},
        ["page.js"],
        title="Who is she?",
        parts=[("text", "Text"), ("json", "JSON")],
        examples=EXAMPLES,
        model=model,
        version=__version__,
    )


class _Handler(BaseHTTPRequestHandler):
    server: DemoServer
    timeout = 30  # seconds for a request to arrive

    def do_GET(self) -> None:
        if self._is_refused():
            return
        if self.path == "/":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
        else:
            self._problem(HTTPStatus.NOT_FOUND, f"there is nothing at {self.path}; the page is at /")

    def do_POST(self) -> None:
        if self._is_refused():
            return
        size = self.headers.get("Content-Length", "")
        if self.path != "/ask":
            self._problem(HTTPStatus.NOT_FOUND, f"there is nothing at {self.path}; texts go to /ask")
        elif not (size.isascii() and size.isdigit()):
            self._problem(HTTPStatus.LENGTH_REQUIRED, "the request does not say how long the text is")
        elif int(size) > LARGEST:
            self._problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the text has more than {LARGEST:,} bytes")
        else:
            try:
                text = decoded(self.rfile.read(int(size)), "the text")
                with self.server.one_at_a_time:
                    answers = self.server.ask(text)
            except GapstackError as problem:
                self._problem(HTTPStatus.BAD_REQUEST, str(problem))
            else:
                self._send_json(HTTPStatus.OK, answers.to_dict())

    def _is_refused(self) -> bool:
        """Refuse a request of another site; say whether it was."""
        host, origin = self.headers.get("Host"), self.headers.get("Origin")
        if host in self.server.hosts and origin in (None, f"http://{host}"):
            return False
        self._problem(HTTPStatus.FORBIDDEN, "requests of other sites are refused")
        return True

    def _problem(self, status: HTTPStatus, problem: str) -> None:
        self._send_json(status, {"problem": problem})

    def _send_json(self, status: HTTPStatus, record: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(record).encode("ascii"))

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a line for each keystroke helps nobody."""
