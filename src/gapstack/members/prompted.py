"""Prompted: a language model is asked who the pronoun refers to, and its answer is calibrated.

Each row is asked twice, with A first and with B first, since models prefer a position; the probabilities of both are
averaged. Log-probabilities of the options are used where the model gives them, otherwise samples. A multinomial
logistic regression over the three log-probabilities, equivariant to swapping A and B, calibrates them on training rows.

A language model may have seen every public test set, so that is presumed (``contaminated_by``).
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.augment import swap_names
from gapstack.data.contamination import PRESUMED
from gapstack.data.example import Replacement, edit
from gapstack.encoding.encoders import Encoder, encoder_digest, load_encoder
from gapstack.errors import DataError, MemberError, Place
from gapstack.files import digest, read_bytes
from gapstack.language.words import page_title
from gapstack.members.estimators import fit_symmetric_logistic, logistic_probabilities
from gapstack.members.language_models import AnsweringModel, CausalModel, ChatQuestion, Reply, template_file
from gapstack.members.member import Member
from gapstack.members.model_servers import Connection, ModelServer, RequestOptions, is_address
from gapstack.progress import print_note
from gapstack.settings import Count, Natural, Positive, Reads, Seed
from gapstack.types import Floats, Probabilities

_PRESUMED = tuple(f"{family}{PRESUMED}" for family in ("gap", "winogender", "winobias"))
_MIRROR = (1, 0, 2)
_FLOOR = 1e-9
_BLOCKS = ("instruction", "question", "options")
_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _model_digest(name: str) -> str:
    return name if is_address(name) else encoder_digest(name)  # a server's model is only known by its name


def _template_digest(name: str) -> str:
    return f"{Path(name).stem} {digest(template_file(name))[:16]}"


class Prompted(Member):
    """A language model that is asked who the pronoun refers to.

    Every reply is stored in the cache by model, question and options, and never asked for again. Rows whose replies
    were all refused or unparsable get equal probabilities before calibration.
    """

    model: Annotated[str, Reads(_model_digest, contaminates=lambda _: _PRESUMED)] = "Qwen/Qwen3-8B"
    """A decoder of transformers (folder or hub name), or the address of one behind an OpenAI-compatible server,
    ``http://host/v1#name``."""
    template: Annotated[str, Reads(_template_digest)] = "letters"
    """Prompt: ``letters`` (options A, B and C), ``names`` (the names themselves), or a template file (.j2)."""
    title: bool = False
    """Show the title of the row's page."""
    examples: Natural = 0
    """Training rows that are shown with their answers."""
    calibration_rows: Natural = 400
    """Most training rows to calibrate on; 0: use the model's probabilities as they are."""
    logprobs: bool = True
    """Use log-probabilities where a server gives them; otherwise, samples."""
    samples: Count = 5
    """Samples of a reply without log-probabilities."""
    max_tokens: Count = 16
    """Most tokens of a server's reply; a model that thinks before it answers needs hundreds."""
    request: Mapping[str, Any] | None = None
    """Fields of a server's requests to add, to change, or (None) to leave out."""
    concurrency: Count = 8
    """Requests that a server gets at once."""
    timeout: Positive = 120.0
    """Seconds to wait for a server's reply."""
    key_variable: str = "GAPSTACK_API_KEY"
    """Environment variable with the server's key, which is never stored or printed."""
    precision: Literal["auto", "float32", "bf16", "fp16"] = "auto"
    """Data type of a local model; auto: bf16 where the device multiplies it in hardware."""
    seed: Seed = 0
    """Seed of the choice of examples and calibration rows."""

    LEARNED = ("examples", "regression")

    @classmethod
    def unfitted(cls, model: str) -> Self:
        """A model with default settings that predicts without having seen a training row, and is not calibrated."""
        member = cls(model=model)
        member.examples_, member.regression_ = [], None
        member.is_fitted_ = True
        return member

    def remark(self, corpus: Corpus) -> str:
        """How many replies about a corpus were refused or unparsable, if any."""
        return _problems(self._replies(corpus))

    def continuation(self, text: str, tokens: int) -> str:
        """Continue a text, most probable tokens first."""
        return self._model().continuation(text, tokens)

    def losses(self, texts: Sequence[str]) -> Floats | None:
        """Negative log-likelihood of texts, (n,), in nats per character; None from a server."""
        return self._model().losses(texts)

    def _fit(self, corpus: Corpus) -> None:
        labels = corpus.labels
        order = np.random.default_rng(self.seed).permutation(len(corpus))
        by_label = [order[labels[order] == label] for label in Label]
        in_turn = [row for rows in zip_longest(*by_label) for row in rows if row is not None]
        shown = in_turn[: self.examples]
        self.examples_ = [asdict(corpus[int(row)]) for row in shown]
        rows = np.sort(order[~np.isin(order, shown)][: self.calibration_rows])
        self.regression_: Floats | None = None
        if self.calibration_rows:
            if not len(rows):
                raise MemberError(f"no row of {len(corpus)} is left to calibrate on; give fewer examples")
            features = np.log(np.clip(self._probabilities(corpus.take(rows)), _FLOOR, None))
            self.regression_ = fit_symmetric_logistic(features, labels[rows], _MIRROR)

    def _prepare(self, corpus: Corpus) -> None:
        if self._is_fitted or not self.examples:  # prompts with examples depend on the fold
            self._replies(corpus)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        probabilities = self._probabilities(corpus)
        if self.regression_ is None:
            return probabilities
        return logistic_probabilities(self.regression_, np.log(np.clip(probabilities, _FLOOR, None)))

    def _probabilities(self, corpus: Corpus) -> Floats:
        """Mean of both orders' probabilities (n, 3), before calibration."""
        replies = self._replies(corpus)
        result = np.full((len(corpus), len(Label)), 1 / 3)
        for row, (a_first, b_first) in enumerate(replies):
            readable = [
                probabilities
                for probabilities in (a_first.probabilities, _swapped(b_first.probabilities))
                if probabilities is not None
            ]
            if readable:
                result[row] = np.clip(np.mean(readable, axis=0), _FLOOR, None)
        if problems := _problems(replies):
            print_note(f"{self.model} {problems}", "yellow")
        return result

    def _replies(self, corpus: Corpus) -> list[tuple[Reply, Reply]]:
        """Replies with A first and with B first."""
        prompt = Prompt(self.template, title=self.title)
        shown = list(map(_from_json, getattr(self, "examples_", ())))
        questions = [question for row in corpus for question in prompt.questions(row, shown)]
        replies = self._model().answer(questions)
        return list(zip(replies[::2], replies[1::2], strict=True))

    def _model(self) -> AnsweringModel:
        if not is_address(self.model):
            return _local_model(load_encoder(self.model), self.precision)
        fields = json.dumps(dict(self.request or {}))
        options = RequestOptions(self.logprobs, self.samples, self.max_tokens, fields)
        return _server(self.model, options, Connection(self.key_variable, self.concurrency, self.timeout))


@lru_cache(maxsize=1)
def _local_model(files: Encoder, precision: str) -> CausalModel:
    return CausalModel(files, precision)


_server = lru_cache(maxsize=8)(ModelServer)


def _swapped(probabilities: Floats | None) -> Floats | None:
    return None if probabilities is None else probabilities[list(_MIRROR)]


def _problems(replies: Sequence[tuple[Reply, Reply]]) -> str:
    """How many replies were refused or unparsable, in words; empty if none."""
    counts = Counter(reply.problem for pair in replies for reply in pair if reply.problem)
    words = [
        f"{count:,} of {2 * len(replies):,} replies {problem}" for problem, count in sorted(counts.items())
    ]
    return f"had {', '.join(words)}" if words else ""


def _from_json(values: Mapping[str, Any]) -> Example:
    spans = {name: Span(*values[name]) for name in ("pronoun", "a", "b")}
    return Example(**{**values, **spans, "label": Label(values["label"])})


class Prompt:
    """A template with the blocks ``instruction``, ``question`` and ``options``, one option a line: two names, neither.

    Variables are ``text`` (the snippet, its pronoun marked as ``[[she]]``), ``snippet`` (unmarked), ``pronoun``,
    ``first``, ``second`` and ``title`` (of the page, empty unless ``title``). DataError, with file and line, if the
    template is not valid.
    """

    def __init__(self, name: str, *, title: bool = False):
        self._file, self._title = template_file(name), title
        self._template = _compiled(self._file, read_bytes(self._file))

    def question(self, example: Example, shown: Sequence[Example] = ()) -> ChatQuestion:
        """The question about a row, A first, after the examples ``shown`` with their answers."""
        messages: list[tuple[str, str]] = []
        for row in (*shown, example):
            blocks = self._blocks(row)
            start = "" if messages else f"{blocks['instruction']}\n\n"
            messages.append(("user", f"{start}{blocks['question']}"))
            options = tuple(blocks["options"].splitlines())
            if len(set(options)) != 3:
                raise DataError(
                    f"three options were expected, found {options}",
                    place=Place(self._file),
                    expected="the first name, the second name, neither, one a line",
                )
            if row is not example and row.label is not None:
                messages.append(("assistant", options[row.label]))
        return ChatQuestion(tuple(messages), options)

    def questions(self, example: Example, shown: Sequence[Example] = ()) -> tuple[ChatQuestion, ChatQuestion]:
        """The question with A first, and with B first."""
        return self.question(example, shown), self.question(swap_names(example), shown)

    def _blocks(self, row: Example) -> dict[str, str]:
        start, end = row.pronoun
        title = ""
        if self._title and (page := page_title(row.url)):
            title = f"{page.title} ({page.qualifier})" if page.qualifier else page.title
        names = [row.a_text, row.b_text]
        if names[0] == names[1]:
            names = [
                f"{name} (mention {1 + (span > other)})"
                for name, span, other in ((names[0], row.a, row.b), (names[1], row.b, row.a))
            ]
        values = {
            "snippet": row.text,
            "text": edit(row, [Replacement(start, start, "[["), Replacement(end, end, "]]")]).text,
            "pronoun": row.pronoun_text,
            "first": names[0],
            "second": names[1],
            "title": title,
        }
        try:
            context = self._template.new_context(values)
            return {name: "".join(self._template.blocks[name](context)).strip() for name in _BLOCKS}
        except TemplateError as problem:
            raise DataError(
                str(problem), place=Place(self._file), expected="a template as the how-to describes"
            ) from None


@lru_cache(maxsize=8)
def _compiled(path: Path, content: bytes) -> Template:
    try:
        template = _ENVIRONMENT.from_string(content.decode("utf-8"))
    except TemplateSyntaxError as problem:
        raise DataError(
            str(problem.message), place=Place(path, problem.lineno), expected="a Jinja template"
        ) from None
    if missing := set(_BLOCKS) - template.blocks.keys():
        raise DataError(
            f"has no block {' or '.join(sorted(missing))}", place=Place(path), expected=", ".join(_BLOCKS)
        )
    return template
