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
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from filelock import FileLock
from scipy.special import logsumexp, softmax
from torch import Tensor

from gapstack.cache import Memory, intact_files, store
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.frozen import PieceLimit, forward_budget, in_passes
from gapstack.errors import DataNotFoundError, MemberError, closest
from gapstack.files import CACHE, cache_root, fingerprint, require_writable
from gapstack.progress import progress
from gapstack.training.devices import compute_dtype, processes
from gapstack.types import Floats, Ints

Messages = tuple[tuple[str, str], ...]
"""A chat: role (``user`` or ``assistant``) and content of each message."""
Responses = list[dict[str, Any]]  # what was stored for one question: parts in order
_TEMPLATES = Path(__file__).parent / "prompts"
_SHORTEST_PREFIX = 16
_MOST_LOGITS = 2**28  # most logits of a batch in which every token is scored
_SPREAD = 32  # most tokens by which inputs of one batch differ in length


def template_file(name: str) -> Path:
    """File of a template: ``letters``, ``names``, or a file of your own (.j2)."""
    path = Path(name) if name.endswith(".j2") else _TEMPLATES / f"{name}.j2"
    if not path.is_file():
        names = sorted(each.stem for each in _TEMPLATES.glob("*.j2"))
        raise DataNotFoundError(f"no prompt template {name}; {closest(name, names)} (or give a .j2 file)")
    return path


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
            require_writable(self.folder, CACHE)
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
        return [record["response"] for record in sorted(records, key=lambda record: record["part"])]

    def keep(self, question: ChatQuestion, part: int, response: Mapping[str, Any]) -> None:
        """Store a part of the reply to a question."""
        blob = json.dumps({"part": part, "response": response}).encode()
        store(self.folder / question.key[:2], blob, ".json", f"{question.key}-")

    def _is_whole(self, responses: Responses) -> bool:
        return bool(responses)

    @abstractmethod
    def continuation(self, text: str, tokens: int) -> str:
        """Continue a text greedily, by a limited number of tokens."""

    def losses(self, texts: Sequence[str]) -> Floats | None:
        """Negative log-likelihood of each text, (n,), in nats per character; None if the model does not give it."""
        return None

    @abstractmethod
    def _ask(self, questions: Sequence[ChatQuestion]) -> Iterator[ChatQuestion]:
        """Ask questions, :meth:`keep` each reply at once, and yield each question that has its whole reply."""

    @abstractmethod
    def _read(self, question: ChatQuestion, responses: Responses) -> Reply: ...


_replies: Memory[Reply] = Memory(100_000)  # replies by folder and question


class CausalModel(AnsweringModel):
    """A decoder of transformers that scores the options as continuations of the chat, or of plain text."""

    def __init__(self, files: Encoder, precision: str = "auto"):
        self.files, self.device = files, processes().device
        self.dtype = compute_dtype(precision, self.device, files)
        super().__init__(Path(files.name).name, f"{files.fingerprint} {self.dtype}")

    @cached_property
    def model(self) -> Any:
        """The model, in evaluation mode on its device; MemberError if the files lack weights."""
        from transformers import AutoModelForCausalLM

        return self.files.load_with(AutoModelForCausalLM, dtype=self.dtype).to(self.device).eval()

    def losses(self, texts: Sequence[str]) -> Floats:
        """Negative log-likelihood of each text, (n,), in nats per character."""
        inputs = [Input(self.files.tokenizer(text)["input_ids"], 1, row) for row, text in enumerate(texts)]
        result = np.empty(len(texts))
        for row, log_p in self._log_probabilities(inputs, _MOST_LOGITS // self.files.config.vocab_size):
            result[row] = -log_p / len(texts[row])
        return result

    def continuation(self, text: str, tokens: int) -> str:
        """Continue a text greedily."""
        given = self.files.tokenizer(text, return_tensors="pt", return_token_type_ids=False).to(self.device)
        with torch.inference_mode():
            whole = self.model.generate(**given, max_new_tokens=tokens, do_sample=False)
        new = whole[0, given["input_ids"].shape[1] :]
        return str(self.files.tokenizer.decode(new, skip_special_tokens=True))

    def _ask(self, questions: Sequence[ChatQuestion]) -> Iterator[ChatQuestion]:
        inputs = [
            chat for number, question in enumerate(questions) for chat in self._inputs(question, number)
        ]
        log_probabilities = [dict[int, float]() for _ in questions]
        for (number, option), log_p in self._log_probabilities(inputs):
            log_probabilities[number][option] = log_p
            if len(log_probabilities[number]) == len(questions[number].options):
                values = [log_p for _, log_p in sorted(log_probabilities[number].items())]
                self.keep(questions[number], 0, {"log_probabilities": values})
                yield questions[number]

    def _read(self, question: ChatQuestion, responses: Responses) -> Reply:
        log_p = np.array(responses[0]["log_probabilities"])
        for k, option in enumerate(question.options):  # the probability of Mary includes that of Mary Smith
            longer = [j for j, other in enumerate(question.options) if j != k and other.startswith(option)]
            if longer:
                rest = -np.expm1(min(logsumexp(log_p[longer]) - log_p[k], 0.0))
                log_p[k] += np.log(max(rest, 1e-9))
        return Reply(softmax(log_p))

    def _inputs(self, question: ChatQuestion, number: int) -> list[Input]:
        """The chat with each option, as tokens."""
        tokenizer, config = self.files.tokenizer, self.files.config
        if has_template := tokenizer.chat_template is not None:
            chat = [{"role": role, "content": content} for role, content in question.messages]
            text = tokenizer.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        else:
            forms = {"user": "{}\nAnswer:", "assistant": " {}\n\n"}
            text = "".join(forms[role].format(content) for role, content in question.messages)
        space = "" if has_template else " "
        written = [text, *(f"{text}{space}{option}" for option in question.options)]
        ids = tokenizer(written, add_special_tokens=not has_template)["input_ids"]
        longest, most = max(map(len, ids)), getattr(config, "max_position_embeddings", None)
        if most and longest > most:
            raise MemberError(
                f"a prompt has {longest:,} tokens, and {self.name} takes {most:,}; give fewer examples, a shorter "
                "template or another model"
            )
        start = _shared_start(ids)
        return [Input(tokens, start, (number, option)) for option, tokens in enumerate(ids[1:])]

    def _log_probabilities(
        self, inputs: Sequence[Input], budget: int | None = None
    ) -> Iterator[tuple[Any, float]]:
        """Log-probability of the tokens from each input's start on, with the input's mark, pass by pass."""
        if not inputs:
            return
        shared = _shared_start([chat.ids[: chat.start - 1] for chat in inputs])
        limit = PieceLimit(
            budget or forward_budget(self.device, self.files.config), "another precision or a shorter prompt"
        )
        with torch.inference_mode():
            is_long = shared >= _SHORTEST_PREFIX and len(inputs) > 1
            cache = self._cache_of(inputs[0].ids[:shared]) if is_long else None
            skip = 0 if cache is None else shared
            # options of one token share their text
            by_text: dict[tuple[int, ...], list[Input]] = {}
            for chat in inputs:
                by_text.setdefault(tuple(chat.ids[skip:-1]), []).append(chat)
            texts = sorted(by_text, key=len)
            for _, similar in groupby(texts, key=lambda text: len(text) // _SPREAD):
                group = [(text, by_text[text]) for text in similar]
                lengths = np.array([skip + len(text) for text, _ in group])
                load = partial(_rows, group)
                for rows, scores in in_passes(lengths, limit, load, partial(self._score, cache, skip)):
                    for (_, owners), log_p in zip(load(rows), scores, strict=True):
                        yield from zip((owner.mark for owner in owners), log_p.tolist(), strict=True)

    def _cache_of(self, prefix: list[int]) -> Any:
        """Keys and values of the common beginning; None for models that keep another kind of state."""
        from transformers.cache_utils import DynamicCache, DynamicLayer

        ids = torch.tensor([prefix], device=self.device)
        cache = self.model(input_ids=ids, use_cache=True, logits_to_keep=1).past_key_values
        layers = cache.layers if isinstance(cache, DynamicCache) else [None]
        return cache if all(isinstance(layer, DynamicLayer) for layer in layers) else None

    def _score(
        self, cache: Any, skip: int, _: Ints, rows: list[tuple[tuple[int, ...], list[Input]]]
    ) -> list[Tensor]:
        """Log-probabilities of each text's inputs; padding on the right is never seen."""
        longest = max(len(text) for text, _ in rows)
        first = min(owner.start for _, owners in rows for owner in owners) - 1 - skip
        ids = torch.tensor([[*text, *[0] * (longest - len(text))] for text, _ in rows], device=self.device)
        options: dict[str, Any] = {"use_cache": False}
        if cache is not None:
            copy = deepcopy(cache)
            copy.batch_repeat_interleave(len(rows))
            options = {"use_cache": True, "past_key_values": copy}
        kept = torch.arange(first, longest, device=self.device)
        logits = self.model(input_ids=ids, logits_to_keep=kept, **options).logits
        scores = []
        for row, (text, owners) in enumerate(rows):
            of_text = []
            for owner in owners:
                following = logits[row, owner.start - 1 - skip - first : len(text) - first]
                log_p = following.float().log_softmax(-1)
                target = torch.tensor(owner.ids[owner.start :], device=self.device)
                of_text.append(log_p.gather(1, target[:, None]).sum())
            scores.append(torch.stack(of_text))
        return scores


class Input(NamedTuple):
    """Token ids, the position of the first that counts, and what a caller knows them by."""

    ids: list[int]
    start: int
    mark: Any


def _rows(group: list[Any], part: Ints) -> list[Any]:
    return [group[row] for row in part]


def _shared_start(sequences: Sequence[list[int]]) -> int:
    """Number of tokens that all sequences begin with."""
    first, last = min(sequences), max(sequences)
    pairs = enumerate(zip(first, last, strict=False))
    return next((k for k, (left, right) in pairs if left != right), min(len(first), len(last)))
