"""Replies of an OpenAI-compatible server: their form, and the probabilities of a question's options in them."""

import re
from collections.abc import Sequence
from typing import Any, NotRequired

import httpx
import numpy as np
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from gapstack.members.language_models import Reply, Responses
from gapstack.types import Floats

_THOUGHTS = re.compile(r"<think>.*?</think>|^.*</think>", re.DOTALL)
_REFUSAL = re.compile(r"\W*(i'?m sorry|i am sorry|i can(no|')t|i'm not able|as an ai)\b", re.IGNORECASE)


class Alternative(TypedDict):
    """A token and its log-probability."""

    token: str
    logprob: float


class Step(Alternative):
    """A token of a reply, and the most probable ones in its place."""

    top_logprobs: NotRequired[list[Alternative] | None]


class Steps(TypedDict):
    """The tokens of a reply."""

    content: NotRequired[list[Step] | None]


class Message(TypedDict):
    """The text of a reply, or of a refusal."""

    content: NotRequired[str | None]
    refusal: NotRequired[str | None]


class ReplyChoice(TypedDict):
    """A reply."""

    message: Message
    finish_reason: NotRequired[str | None]
    logprobs: NotRequired[Steps | None]


class Completion(TypedDict):
    """What is read and stored of a server's response."""

    choices: list[ReplyChoice]


_COMPLETION: TypeAdapter[Completion] = TypeAdapter(Completion)


def completion_of(answer: httpx.Response) -> Completion | None:
    """A response in the protocol, or None."""
    try:
        response = _COMPLETION.validate_json(answer.content)
    except ValueError:
        return None
    return response if answer.is_success and response["choices"] else None


def steps_of(response: Any) -> list[Step]:
    """Tokens of the first choice; empty without alternatives."""
    steps = (response["choices"][0].get("logprobs") or {}).get("content") or []
    return steps if steps and steps[0].get("top_logprobs") else []


def text_of(choice: ReplyChoice) -> str:
    """Text of a reply without its thoughts."""
    return _THOUGHTS.sub("", choice["message"].get("content") or "").strip()


def problem_of(choices: Sequence[ReplyChoice]) -> str:
    """Why choices have no answer."""
    refused = any(
        choice.get("finish_reason") == "content_filter"
        or choice["message"].get("refusal")
        or _REFUSAL.match(text_of(choice))
        for choice in choices
    )
    return "refused" if refused else "unparsable"


def reply_of(responses: Responses, options: Sequence[str]) -> Reply:
    """Probabilities by the tokens of the first choice, or else by the shares of samples that name an option."""
    choices = [choice for response in responses for choice in response["choices"]]
    if steps := steps_of(responses[0]):
        probabilities = along_path(steps, options)
    else:
        named = (named_option(text_of(choice), options) for choice in choices)
        counts = np.bincount([k for k in named if k is not None], minlength=len(options))
        probabilities = (counts + 1 / 3) / (counts.sum() + len(counts) / 3) if counts.any() else None
    return Reply(probabilities, problem_of(choices) if probabilities is None else "")


def fitting(text: str, options: Sequence[str]) -> list[int]:
    """Options that a text begins, or else the longest one that begins the text."""
    text = text.lstrip(" \n\t\"'*([")
    begun = [k for k, option in enumerate(options) if option.startswith(text)]
    ended = [k for k, option in enumerate(options) if re.match(rf"{re.escape(option)}(?!\w)", text)]
    return begun or sorted(ended, key=lambda k: len(options[k]))[-1:]


def along_path(steps: Sequence[Step], options: Sequence[str]) -> Floats | None:
    """Probabilities (n,) of options by a reply's tokens and their alternatives; None if they show no option."""
    mass, text, reached, least = np.zeros(len(options)), "", 1.0, 1.0
    for step in steps:
        written, matching = step["token"], fitting(text + step["token"], options)
        listed = {
            alternative["token"]: float(np.exp(alternative["logprob"]))
            for alternative in (*(step.get("top_logprobs") or ()), step)
        }
        least = min(least, reached * min(listed.values()))
        for token, p in listed.items():
            reaches = fitting(text + token, options)
            if token != written and len(reaches) < len(options):
                mass[reaches] += reached * p / max(len(reaches), 1)
        text, reached = text + written, reached * listed[written]
        if len(matching) < 2:
            break
    matching = [k for k in matching if options[k] == text.strip()] or matching
    if len(matching) < len(options):
        mass[matching] += reached / max(len(matching), 1)
    if not mass.any():
        return None
    mass = np.where(mass > 0, mass, min(least, mass[mass > 0].min()))
    return mass / mass.sum()


def named_option(text: str, options: Sequence[str]) -> int | None:
    """The option that a text begins with, or else the only one that it has as a word; None if there is none."""
    matching = fitting(text, options) if text else []
    if len(matching) != 1:
        matching = [
            k for k, option in enumerate(options) if re.search(rf"(?<!\w){re.escape(option)}(?!\w)", text)
        ]
    return matching[0] if len(matching) == 1 else None
