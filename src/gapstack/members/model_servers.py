"""Language models behind an OpenAI-compatible server (vLLM, llama.cpp, Ollama, hosted ones), asked over HTTP.

What these servers share is ``POST /chat/completions``; the rest differs:

- vLLM returns up to 20 log-probabilities of each token, from before any constraint, takes
  ``structured_outputs: {"choice": [...]}`` since 0.11, and ignores fields that it does not know.
- llama.cpp returns log-probabilities from before its ``grammar`` acts.
- Ollama returns log-probabilities since 0.12.11, and ignores ``n`` and fields that it does not know.
- Hosted services refuse unknown fields with status 400, and some offer no log-probabilities.

So the richest request is tried first, and what is refused or not answered is left out (:data:`DIALECTS`).
"""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from random import random
from threading import Lock
from typing import Any

import httpx

from gapstack.errors import DataError, RemoteError, first_line
from gapstack.files import write_json
from gapstack.members.completions import Completion, ReplyChoice, completion_of, reply_of, steps_of, text_of
from gapstack.members.language_models import AnsweringModel, ChatQuestion, Reply, Responses

ATTEMPTS = 8  # times that a request is sent before a server is given up
FIRST_DELAY, LONGEST_DELAY = 1.0, 60.0
"""Seconds between attempts, doubled each time; a server's ``Retry-After`` counts if it is longer."""
PATIENCE = 3600.0  # longest ``Retry-After``, in seconds, that is waited for
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # statuses that may pass
_UNSUPPORTED = {400, 415, 422, 501}  # statuses of a request with a field that a server does not take
_LOGPROBS = ({"logprobs": True, "top_logprobs": 20}, {"logprobs": True, "top_logprobs": 5})
DIALECTS: tuple[tuple[Mapping[str, Any], bool], ...] = (
    *((fields, constrained) for fields in _LOGPROBS for constrained in (True, False)),
    *(({}, constrained) for constrained in (True, False)),
)
"""Fields that ask for log-probabilities, none for samples; and True if the reply is constrained to the options."""
_CONTINUE = "Continue this text word for word as it was published, without comment:"


class _RefusedError(Exception):
    """A server refused a request for good."""

    def __init__(self, status: int, message: str):
        self.status, self.message = status, message


def is_address(model: str) -> bool:
    """True for ``http://host/v1#name``, False for a folder or a name on the hub."""
    return model.startswith(("http://", "https://"))


@dataclass(frozen=True)
class Connection:
    """How a server is reached, which does not decide its replies."""

    key_variable: str = "GAPSTACK_API_KEY"
    concurrency: int = 8
    timeout: float = 120.0


@dataclass(frozen=True)
class RequestOptions:
    """What decides replies apart from the question: samples if log-probabilities are missing, and request fields."""

    logprobs: bool = True
    samples: int = 5
    max_tokens: int = 16
    fields: str = "{}"
    """JSON of fields of every request; those that are null are left out."""


class ModelServer(AnsweringModel):
    """A model by its address, ``http://host/v1#name``; DataError for an address without a name, or with a password."""

    def __init__(self, address: str, options: RequestOptions, connection: Connection):
        url, _, name = address.partition("#")
        parsed = httpx.URL(url)
        if not name or not parsed.host or parsed.userinfo or parsed.query:
            raise DataError(
                "not the address of a model",
                expected="http://HOST/v1#NAME, without a password or key",
                remedy=f"Put a key into the environment variable {connection.key_variable}",
            )
        super().__init__(name, f"{url.rstrip('/')}#{name} {json.dumps(vars(options), sort_keys=True)}")
        self.options, self.connection = options, connection
        self._client = httpx.Client(
            base_url=f"{url.rstrip('/')}/",
            timeout=connection.timeout,
            trust_env=parsed.host
            not in ("localhost", "127.0.0.1", "::1"),  # proxies do not lead to this machine
            limits=httpx.Limits(max_connections=connection.concurrency),
        )
        self._lock, self._resume_at = Lock(), 0.0
        self._dialect: int | None = None

    def continuation(self, text: str, tokens: int) -> str:
        """Ask for the continuation of a text; it is stored like any reply."""
        ending = ChatQuestion((("user", f"{_CONTINUE}\n\n{text}"),), ())
        fields = json.loads(self.options.fields) | {"temperature": 0}
        options = replace(
            self.options, logprobs=False, samples=1, max_tokens=tokens, fields=json.dumps(fields)
        )
        server = ModelServer(f"{self._client.base_url}#{self.name}", options, self.connection)
        server.answer([ending])
        return text_of(server.responses(ending)[0]["choices"][0])

    def _ask(self, questions: Sequence[ChatQuestion]) -> Iterator[ChatQuestion]:
        if not questions:
            return
        if self._dialect is None:
            known = self._known_dialect()
            self._dialect = self._negotiate(questions[0]) if known is None else known
        pool = ThreadPoolExecutor(self.connection.concurrency)
        try:
            for future in as_completed([pool.submit(self._ask_one, question) for question in questions]):
                yield future.result()
        finally:  # what was sent is still waited for and stored
            pool.shutdown(cancel_futures=True)

    def _ask_one(self, question: ChatQuestion) -> ChatQuestion:
        while not self._is_whole(so_far := self.responses(question)):
            try:
                response = self._post(self._body(question, self._dialect or 0, so_far))
            except _RefusedError as refused:
                if not re.search("content_(filter|policy)", refused.message):
                    raise self._failure(refused.message) from None
                choice: ReplyChoice = {
                    "message": {"refusal": refused.message},
                    "finish_reason": "content_filter",
                }
                response = {"choices": [choice] * self.options.samples}
            self.keep(question, len(so_far), response)
        return question

    def _known_dialect(self) -> int | None:
        try:
            return int(json.loads((self.folder / "dialect.json").read_text(encoding="utf-8"))["dialect"])
        except (OSError, ValueError, LookupError):
            return None

    def _negotiate(self, question: ChatQuestion) -> int:
        """Find and store the richest dialect that the server understands; its reply to the question is stored too."""
        has_logprobs, refusal = self.options.logprobs, "no form of a request is left"
        for number, (fields, _) in enumerate(DIALECTS):
            if fields and not has_logprobs:
                continue
            try:
                response = self._post(self._body(question, number, []))
            except _RefusedError as refused:
                refusal = refused.message
                if refused.status not in _UNSUPPORTED:
                    break
                continue
            has_logprobs = bool(steps_of(response))
            if has_logprobs or not fields:
                write_json(self.folder / "dialect.json", {"dialect": number})
                self.keep(question, 0, response)
                return number
        raise self._failure(refusal)

    def _body(self, question: ChatQuestion, dialect: int, so_far: Responses) -> dict[str, Any]:
        """The next request for a question."""
        fields, is_constrained = DIALECTS[dialect]
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": role, "content": content} for role, content in question.messages],
            "max_tokens": self.options.max_tokens,
            "temperature": 0,
            **fields,
        }
        if not fields:
            missing = self.options.samples - sum(len(response["choices"]) for response in so_far)
            body |= {"n": missing, "temperature": 1, "seed": len(so_far)}
        if is_constrained and question.options:
            quoted = (json.dumps(option, ensure_ascii=False) for option in question.options)
            body["structured_outputs"] = {"choice": list(question.options)}
            body["grammar"] = f"root ::= {' | '.join(quoted)}"
            body["chat_template_kwargs"] = {"enable_thinking": False}
        return {
            key: value for key, value in (body | json.loads(self.options.fields)).items() if value is not None
        }

    def _post(self, body: Mapping[str, Any]) -> Completion:
        """Send a request until it is answered; RemoteError after :data:`ATTEMPTS`, _RefusedError if it is refused."""
        problem, key = "", os.environ.get(self.connection.key_variable, "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        for attempt in range(ATTEMPTS):
            time.sleep(max(0.0, self._resume_at - time.monotonic()))
            delay = min(FIRST_DELAY * 2**attempt, LONGEST_DELAY) * (1 + random()) / 2
            try:
                answer = self._client.post("chat/completions", json=body, headers=headers)
            except httpx.TransportError as error:
                problem = f"{type(error).__name__}: {first_line(error)}"
            else:
                if (response := completion_of(answer)) is not None:
                    return response
                problem = f"status {answer.status_code}: {answer.text[:300]}"
                problem = problem.replace(key, "***") if key else problem
                if answer.is_error and answer.status_code not in _PASSING:
                    raise _RefusedError(answer.status_code, problem)
                delay = max(delay, _retry_after(answer.headers.get("Retry-After", "")))
            if delay > PATIENCE:
                break
            with self._lock:  # all threads wait for a busy server
                self._resume_at = max(self._resume_at, time.monotonic() + delay)
        raise self._failure(f"no reply, {problem}")

    def _failure(self, problem: str) -> RemoteError:
        return RemoteError(
            f"{self.name} at {self._client.base_url}: {problem}. Stored replies are kept: repeat the command"
        )

    def _is_whole(self, responses: Responses) -> bool:
        choices = sum(len(response["choices"]) for response in responses)
        return choices >= self.options.samples or any(map(steps_of, responses))

    def _read(self, question: ChatQuestion, responses: Responses) -> Reply:
        return reply_of(responses, question.options)


def _retry_after(value: str) -> float:
    """Seconds of a ``Retry-After`` header, a number or a date; 0 for anything else."""
    if re.fullmatch(r"\d+(\.\d*)?", value):
        return float(value)
    try:
        return parsedate_to_datetime(value).timestamp() - time.time()
    except ValueError:
        return 0.0
