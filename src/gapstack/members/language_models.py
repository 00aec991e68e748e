"""Language models that choose among options: the questions, the stored replies, and models of transformers.

Every reply is stored as soon as it is there, by model, question and options, and never asked for again. Models behind
a server are in :mod:`gapstack.members.model_servers`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock
from scipy.special import logsumexp, softmax

from gapstack.cache import Memory, intact_files, store
from gapstack.encoding.encoders import Encoder, quiet
from gapstack.errors import MemberError
from gapstack.files import cache_root, fingerprint
from gapstack.processes import fastest_dtype
from gapstack.progress import progress
from gapstack.training.devices import default_budget, processes
from gapstack.types import Floats

Messages = tuple[tuple[str, str], ...]
"""A chat: role (``user`` or ``assistant``) and content of each message."""
Responses = list[dict[str, Any]]
"""What was stored for one question: parts in order."""
_SHORTEST_PREFIX = 16
_MOST_LOGITS = 2**28  # of a batch in which every token is scored
_SPREAD = 32  # most tokens by which inputs of one batch differ in length


@dataclass(frozen=True)
class ChatQuestion:
    """A chat that ends with a question, and the possible answers, exactly as they are to be written."""

    messages: Messages
    options: tuple[str, ...]

    @cached_property
    def key(self) -> str:
        """Hash of the question and its options."""
        return fingerprint(self.messages, self.options)


@dataclass(frozen=True)
class Reply:
    """Probabilities of a question's options, which sum to 1; or None and the problem, ``refused`` or ``unparsable``."""

    probabilities: Floats | None
    problem: str = ""


class AnsweringModel(ABC):
    """A model that answers questions; ``identity`` names everything that decides its replies."""

    def __init__(self, name: str, identity: str):
        self.name, self.identity = name, identity

    @property
    def folder(self) -> Path:
        """Folder of the stored replies."""
        return cache_root(scratch=False) / "replies" / fingerprint(self.identity)

    def answer(self, questions: Sequence[ChatQuestion]) -> list[Reply]:
        """Reply to each question, in order; the model is asked once for all equal ones, and never for stored ones."""

        def compute(positions: list[int]) -> list[Reply]:
            new = [questions[position] for position in positions]
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / ".lock"):  # another process may be asking the same questions
                missing = [question for question in new if not self._is_whole(self.responses(question))]
                with progress(f"asking {self.name}", len(missing)) as ticker:
                    for _ in self._ask(missing):
                        ticker.advance()
            return [self._read(question, self.responses(question)) for question in new]

        return _replies.fetch([(self.folder, question.key) for question in questions], compute)

    def responses(self, question: ChatQuestion) -> Responses:
        """What is stored for a question."""
        paths = intact_files(self.folder / question.key[:2], ".json", f"{question.key}-")
        records = [json.loads(path.read_bytes()) for path in paths]
        return [one["response"] for one in sorted(records, key=lambda each: each["part"])]

    def keep(self, question: ChatQuestion, part: int, response: Mapping[str, Any]) -> None:
        """Store a part of the reply to a question."""
        blob = json.dumps({"part": part, "response": response}).encode()
        store(self.folder / question.key[:2], blob, ".json", f"{question.key}-")

    def _is_whole(self, responses: Responses) -> bool:
        return bool(responses)

    @abstractmethod
    def continuation(self, text: str, tokens: int) -> str:
        """Continue a text by at most so many tokens, as probably as possible."""

    def losses(self, texts: Sequence[str]) -> Floats | None:
        """Negative log-likelihood of each text, (n,), in nats per character; None if the model does not give it."""
        return None

    @abstractmethod
    def _ask(self, questions: Sequence[ChatQuestion]) -> Iterator[ChatQuestion]:
        """Ask questions, :meth:`keep` each reply at once, and yield each question that has its whole reply."""

    @abstractmethod
    def _read(self, question: ChatQuestion, responses: Responses) -> Reply: ...


_replies: Memory[Reply] = Memory(100_000)
"""Replies by folder and question."""


class CausalModel(AnsweringModel):
    """A decoder of transformers that scores the options as continuations of the chat.

    Without a chat template, the messages are continued as plain text with ``Answer:``. Equal beginnings of the texts
    are computed once, and texts of similar length are batched.
    """

    def __init__(self, files: Encoder, precision: str = "auto"):
        self.files = files
        self.device = processes().device
        self.dtype = fastest_dtype(self.device) if precision == "auto" else getattr(torch, precision)
        super().__init__(Path(files.name).name, f"{files.fingerprint} {self.dtype}")

    @cached_property
    def model(self) -> Any:
        """The model, in evaluation mode on its device."""
        from transformers import AutoModelForCausalLM

        with quiet():
            model, report = AutoModelForCausalLM.from_pretrained(
                self.files.folder,
                use_safetensors=True,
                trust_remote_code=False,
                dtype=self.dtype,
                output_loading_info=True,
            )
        if missing := sorted(report["missing_keys"]):
            raise MemberError(
                f"{self.name} is not a language model: its weights lack {', '.join(missing[:3])}"
            )
        return model.to(self.device).eval()

    def losses(self, texts: Sequence[str]) -> Floats:
        """Negative log-likelihood of each text, (n,), in nats per character."""
        inputs = [(self.files.tokenizer(text)["input_ids"], 1, row) for row, text in enumerate(texts)]
        result = np.empty(len(texts))
        vocabulary = self.model.config.get_text_config().vocab_size
        for row, log_p in self._log_probabilities(inputs, _MOST_LOGITS // vocabulary):
            result[row] = -log_p / len(texts[row])
        return result

    def continuation(self, text: str, tokens: int) -> str:
        """Continue a text greedily."""
        given = self.files.tokenizer(text, return_tensors="pt", return_token_type_ids=False).to(self.device)
        with torch.inference_mode():
            whole = self.model.generate(**given, max_new_tokens=tokens, do_sample=False)
        return str(
            self.files.tokenizer.decode(whole[0, given["input_ids"].shape[1] :], skip_special_tokens=True)
        )

    def _ask(self, questions: Sequence[ChatQuestion]) -> Iterator[ChatQuestion]:
        inputs = [
            (ids, start, (number, option))
            for number, question in enumerate(questions)
            for option, (ids, start) in enumerate(self._continuations(question))
        ]
        found = [dict[int, float]() for _ in questions]
        for (number, option), log_p in self._log_probabilities(inputs):
            found[number][option] = log_p
            if len(found[number]) == len(questions[number].options):
                values = [found[number][k] for k in range(len(found[number]))]
                self.keep(questions[number], 0, {"log_probabilities": values})
                yield questions[number]

    def _read(self, question: ChatQuestion, responses: Responses) -> Reply:
        log_p = np.array(responses[0]["log_probabilities"])
        for k, option in enumerate(question.options):  # Mary is not Mary Smith
            longer = [j for j, other in enumerate(question.options) if j != k and other.startswith(option)]
            if longer:
                rest = -np.expm1(min(logsumexp(log_p[longer]) - log_p[k], 0.0))
                log_p[k] += np.log(max(rest, 1e-9))
        return Reply(softmax(log_p))

    def _continuations(self, question: ChatQuestion) -> list[tuple[list[int], int]]:
        """Token ids of the chat with each option, and the position of the first that differs between options."""
        tokenizer = self.files.tokenizer
        if has_template := tokenizer.chat_template is not None:
            chat = [{"role": role, "content": content} for role, content in question.messages]
            text = tokenizer.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        else:
            text = "".join(
                f" {content}\n\n" if role == "assistant" else f"{content}\nAnswer:"
                for role, content in question.messages
            )
        space = "" if has_template else " "
        written = [text, *(f"{text}{space}{option}" for option in question.options)]
        ids = tokenizer(written, add_special_tokens=not has_template)["input_ids"]
        start = _shared_start(ids)
        most = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        if most and max(map(len, ids)) > most:
            raise MemberError(f"a prompt has {max(map(len, ids)):,} tokens, and {self.name} takes {most:,}")
        return [(own, start) for own in ids[1:]]

    def _log_probabilities(
        self, inputs: Sequence[tuple[list[int], int, Any]], budget: int | None = None
    ) -> Iterator[tuple[Any, float]]:
        """Log-probability of the tokens from each input's start on, with the input's mark, batch by batch."""
        if not inputs:
            return
        shared = _shared_start([ids[: start - 1] for ids, start, _ in inputs])
        with torch.inference_mode():
            is_long = shared >= _SHORTEST_PREFIX and len(inputs) > 1
            cache = self._cache_of(inputs[0][0][:shared]) if is_long else None
            skip = 0 if cache is None else shared
            # options of one token share their input
            by_input: dict[tuple[int, ...], list[int]] = {}
            for number, (ids, _, _) in enumerate(inputs):
                by_input.setdefault(tuple(ids[skip:-1]), []).append(number)
            for batch in _batches(list(by_input), skip, budget or default_budget(self.device)):
                numbers = [number for given in batch for number in by_input[given]]
                first = min(inputs[number][1] for number in numbers) - 1 - skip
                logits = self._logits(batch, cache, first)
                for row, given in enumerate(batch):
                    for number in by_input[given]:
                        ids, start, mark = inputs[number]
                        steps = logits[row, start - 1 - skip - first : len(given) - first]
                        target = torch.tensor(ids[start:], device=steps.device)
                        log_p = steps.float().log_softmax(-1).gather(1, target[:, None]).double().sum()
                        yield mark, float(log_p)

    def _cache_of(self, prefix: list[int]) -> Any:
        """Keys and values of the common beginning; None for models that keep another kind of state."""
        from transformers.cache_utils import DynamicCache, DynamicLayer

        ids = torch.tensor([prefix], device=self.device)
        cache = self.model(input_ids=ids, use_cache=True, logits_to_keep=1).past_key_values
        is_plain = isinstance(cache, DynamicCache) and all(
            isinstance(one, DynamicLayer) for one in cache.layers
        )
        return cache if is_plain else None

    def _logits(self, batch: Sequence[tuple[int, ...]], cache: Any, first: int) -> torch.Tensor:
        """Logits (b, l - first, V) of inputs that continue the cache; padding on the right is never seen."""
        longest = max(map(len, batch))
        ids = torch.tensor([[*given, *[0] * (longest - len(given))] for given in batch], device=self.device)
        options: dict[str, Any] = {"use_cache": False}
        if cache is not None:
            copy = deepcopy(cache)
            copy.batch_repeat_interleave(len(batch))
            options = {"use_cache": True, "past_key_values": copy}
        kept = torch.arange(first, longest, device=self.device)
        return self.model(input_ids=ids, logits_to_keep=kept, **options).logits


def _shared_start(sequences: Sequence[list[int]]) -> int:
    """Number of tokens that all sequences begin with."""
    first, last = min(sequences), max(sequences)
    pairs = enumerate(zip(first, last, strict=False))
    return next((k for k, (one, other) in pairs if one != other), min(len(first), len(last)))


def _batches(inputs: list[tuple[int, ...]], skip: int, budget: int) -> Iterator[list[tuple[int, ...]]]:
    """Cut inputs, longest first, into batches of at most ``budget`` tokens each, their common beginning included."""
    batch: list[tuple[int, ...]] = []
    for given in sorted(inputs, key=len, reverse=True):
        if batch and (
            (len(batch) + 1) * (skip + len(batch[0])) > budget or len(batch[0]) - len(given) > _SPREAD
        ):
            yield batch
            batch = []
        batch.append(given)
    if batch:
        yield batch
