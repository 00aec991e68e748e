"""Prompts: templates of questions, one file each, and their rendering for the rows of a corpus."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from gapstack.data import Example
from gapstack.data.augment import swap_names
from gapstack.data.example import Replacement, edit
from gapstack.errors import DataError, DataNotFoundError, Place, closest
from gapstack.files import read_bytes
from gapstack.members.language_models import ChatQuestion
from gapstack.text.words import page_title

_FOLDER = Path(__file__).parent
_BLOCKS = ("instruction", "question", "options")
_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def template_file(name: str) -> Path:
    """File of a template: ``letters``, ``names``, or a file of your own (.j2)."""
    path = Path(name) if name.endswith(".j2") else _FOLDER / f"{name}.j2"
    if not path.is_file():
        names = sorted(each.stem for each in _FOLDER.glob("*.j2"))
        raise DataNotFoundError(f"no prompt template {name}; {closest(name, names)} (or give a .j2 file)")
    return path


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
        page = page_title(row.url) if self._title else None
        names = [row.a_text, row.b_text]
        if names[0] == names[1]:
            names = [
                f"{name} (mention {1 + (own > other)})"
                for name, own, other in ((names[0], row.a, row.b), (names[1], row.b, row.a))
            ]
        values = {
            "snippet": row.text,
            "text": edit(row, [Replacement(start, start, "[["), Replacement(end, end, "]]")]).text,
            "pronoun": row.pronoun_text,
            "first": names[0],
            "second": names[1],
            "title": f"{page.title} ({page.qualifier})"
            if page and page.qualifier
            else page.title
            if page
            else "",
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
        raise DataError(str(problem.message), place=Place(path, problem.lineno)) from None
    if missing := set(_BLOCKS) - template.blocks.keys():
        raise DataError(
            f"has no block {' or '.join(sorted(missing))}", place=Place(path), expected=", ".join(_BLOCKS)
        )
    return template
