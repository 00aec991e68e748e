"""Identity: something that decided a result is changed, and everything keeps its name.

A run must then give what a fresh run would give, and what only reads the old run must refuse; a change that decides
nothing must make nothing again. Each attempt is one case of the tables here.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from scripts.campaign import contents
from scripts.campaign.contents import SOURCE
from scripts.campaign.tries import Outcome, Part
from scripts.campaign.workplace import RUN, Workplace, differing, rows, succeeded

PATH, ENCODER = "@path@", "@encoder@"
"""In a recipe: the file or folder whose contents change; an encoder that stays as it is."""


@dataclass(frozen=True)
class Case:
    """Something outside the recipe whose contents decide a result.

    Attributes
    ----------
    what : str
    make : callable
        Writes it, by a seed.
    members : tuple
        Pairs of a member's name and its settings, :data:`PATH` where they name it.
    stackers : tuple of str
    option, variable : str
        Command line's option, or environment variable, that names it.
    data : bool
        Whether GAP's data must be there.
    """

    what: str
    make: Callable[[Path, int], None]
    members: tuple[tuple[str, Mapping[str, Any]], ...]
    stackers: tuple[str, ...] = ()
    option: str = ""
    variable: str = ""
    data: bool = False

    def recipe(self, path: Path, encoder: Path) -> str:
        """The recipe as TOML."""
        lines = ['name = "campaign"', "folds = 3"]
        for name, settings in (("prior", {}), *self.members):
            lines += ["[[members]]", f'name = "{name}"', f"settings = {_toml(settings)}"]
        lines += [f'[[stackers]]\nname = "{name}"' for name in self.stackers]
        return "\n".join(lines).replace(PATH, str(path)).replace(ENCODER, str(encoder)) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


_SHORT = {"encoder": PATH, "max_pieces": 128}
_ONCE = {"training": {"epochs": 1}}
_FROZEN = {"seeds": 1, "epochs": 2}
_TREES = ("surface", {"blocks": ["surface", "cues"], "rounds": 5})

CASES = (
    Case("encoder of frozen_spans", contents.encoder, (("frozen_spans", {"encoder": PATH, **_FROZEN}),)),
    Case("word vectors", contents.vectors, (("static_vectors", {"vectors": PATH, "seeds": 1, **_ONCE}),)),
    Case("clusters of resolver", contents.clusters, (("resolver", {"clusters": [PATH]}),)),
    Case("encoder of probert", contents.encoder, (("probert", _SHORT | _ONCE),)),
    Case("encoder of rgcn", contents.encoder, (("rgcn", _SHORT | _ONCE | {"widths": [8, 8]}),)),
    Case("encoder of kernel_svm", contents.encoder, (("kernel_svm", _SHORT),)),
    Case("encoder of transformer_single", contents.encoder, (("transformer_single", {"encoder": PATH}),)),
    Case(
        "encoder of transformer_multi",
        contents.encoder,
        (("transformer_multi", {"encoder": PATH, "trees": 10}),),
    ),
    Case(
        "encoder of static_vectors",
        contents.encoder,
        (("static_vectors", {"vectors": f"encoder:{PATH}", "seeds": 1, **_ONCE}),),
    ),
    Case("--encoder", contents.encoder, (("frozen_spans", _FROZEN),), option="--encoder"),
    Case("GAP_PARSER", contents.parser, (("parallelism", {}), _TREES), variable="GAP_PARSER"),
    Case("--parser", contents.parser, (("parallelism", {}),), option="--parser"),
    Case(
        "parser of the stack's evidence",
        contents.parser,
        (("random", {}),),
        stackers=("evidence",),
        variable="GAP_PARSER",
    ),
    Case(
        "clusters of grep",
        contents.clusters,
        (("grep", {"encoder": ENCODER, "max_pieces": 128, "clusters": [PATH], **_ONCE}),),
    ),
    Case(
        "teacher",
        contents.teacher,
        (("probert", {"encoder": ENCODER, "max_pieces": 128, "teacher": [PATH], **_ONCE}),),
        data=True,
    ),
)
"""Contents that decide a result."""


@dataclass(frozen=True)
class Edit:
    """A change of the package's source.

    ``module`` is the end of the file's path, ``again`` what must then be made again: labels of members, ``stack``.
    """

    what: str
    module: str
    change: Callable[[str], str]
    again: frozenset[str]


def _reworded(source: str) -> str:
    """The same code with another docstring, a comment and other blank lines."""
    return "# A comment.\n\n" + source.replace('"""', '"""Reworded: ', 1).replace(
        "\n\n\n", "\n\n\n# Why.\n\n\n"
    )


def _other_code(source: str) -> str:
    return source + "\n\n_EDITED = True\n"


EDITS = (
    Edit("comments and docstrings", "/encoding/pieces.py", _reworded, frozenset()),
    Edit("code of one member", "/members/surface.py", _other_code, frozenset({"surface", "stack"})),
    Edit("code of one stacker", "/ensemble/linear.py", _other_code, frozenset({"stack"})),
    Edit("code of pages", "/report/render.py", _other_code, frozenset()),
)
"""Edits of source."""
_EDITED_RUN = Case(
    "",
    contents.encoder,
    (("surface", {"rounds": 5}), ("frozen_spans", {"encoder": PATH, **_FROZEN})),
    stackers=("logistic",),
)
_READERS = ("predict", "compare --flips", "audit")


class Identity(Part):
    """Every case of the tables, in their order."""

    name, short, usual, full = "identity", 0, 79, 79

    def prepare(self) -> None:
        """Make the encoder that no case changes, and rows to predict."""
        self.data = contents.data_folder()
        self.cases = [case for case in CASES if self.data or not case.data]
        if len(self.cases) < len(CASES):
            self.notes.append("teacher and audit: GAP's data are not on this machine")
        self.encoder = self.place / "encoder"
        contents.encoder(self.encoder, 5)
        self.rows = rows(self.place / "rows.tsv")

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """One case of contents, or one edit."""
        number %= len(self.cases) + len(EDITS)
        if number < len(self.cases):
            return self._contents(self.folder(number), self.cases[number])
        return self._edit(self.folder(number), EDITS[number - len(self.cases)])

    def _contents(self, folder: Path, case: Case) -> Iterator[Outcome]:
        path = folder / "changing"
        case.make(path, 0)
        environment: dict[str, str | None] = {case.variable: str(path)} if case.variable else {}
        if case.data:
            environment["GAP_DATA"] = str(self.data)
        options = (case.option, path) if case.option else ()
        file = folder / "campaign.toml"
        file.write_text(case.recipe(path, self.encoder), encoding="utf-8")
        place, fresh = Workplace(folder / "here", file), Workplace(folder / "fresh", file)
        succeeded(place.carry_out(*options, environment=environment), "the first run")
        old = place.answers()
        case.make(path, 1)
        # what reads the old run first: afterwards it is another one
        for reader in _READERS:
            if reader != "audit" or self.data:
                yield Outcome(f"{case.what}: {reader}", self._read(place, reader, environment))
        succeeded(fresh.carry_out(*options, environment=environment), "the fresh run")
        expected = _of_run(fresh)
        if not differing(expected, _only_runs(old)):
            raise RuntimeError(f"{case.what}: the change decides nothing, so that this case shows nothing")
        again = place.carry_out(*options, environment=environment)
        problem = again.problem or ("refused: " + again.err[-200:] if again.status else "")
        if not problem and (stale := differing(_of_run(place), expected)):
            problem = f"the run kept old results: {stale}"
        yield Outcome(f"{case.what}: run", problem)
        case.make(path, 0)
        back = place.carry_out(*options, environment=environment)
        stale = differing(_of_run(place), _only_runs(old))
        yield Outcome(
            f"{case.what}: run, changed back",
            back.problem or (stale and f"not what the first run gave: {stale}"),
        )

    def _read(self, place: Workplace, reader: str, environment: Mapping[str, str | None]) -> str:
        arguments: dict[str, tuple[object, ...]] = {
            "predict": ("predict", RUN, "--input", self.rows, "--output", place.root / "out.csv"),
            "compare --flips": ("compare", RUN, "--replicates", 100, "--flips", 2, "--json"),
            "audit": ("audit", RUN, "--suite", "wsc273", "--data", self.data),
        }
        ended = place.gap(*arguments[reader], environment=environment)
        if ended.status == 0 and reader == "compare --flips":
            # stored answers may be compared still; what would have to be asked again is left out, with the reason
            found = json.loads(ended.out)
            if not found["flips"] and any("no counterfactuals" in note for note in found["notes"]):
                return ""
        if ended.status == 0:
            return "answered with other contents than the run was made with"
        return ended.refusal_problem

    def _edit(self, folder: Path, edit: Edit) -> Iterator[Outcome]:
        source = folder / "source"
        shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        file = folder / "campaign.toml"
        file.write_text(_EDITED_RUN.recipe(self.encoder, self.encoder), encoding="utf-8")
        place = Workplace(folder / "here", file)
        environment = {"PYTHONPATH": str(source)}
        succeeded(place.gap(*place.arguments, environment=environment, cold=True), "the first run")
        before = _records(place)
        (module,) = [path for path in source.rglob("*.py") if str(path).endswith(edit.module)]
        module.write_text(edit.change(module.read_text(encoding="utf-8")), encoding="utf-8")
        succeeded(place.gap(*place.arguments, environment=environment, cold=True), "the second run")
        now = _records(place)
        again = {name.split("/")[0] for name in before if now.get(name) != before[name]}
        problem = (
            ""
            if again == edit.again
            else f"made again: {', '.join(sorted(again)) or 'nothing'}; "
            f"expected {', '.join(sorted(edit.again)) or 'nothing'}"
        )
        yield Outcome(f"source: {edit.what}", problem)


def _only_runs(answers: Mapping[str, str]) -> dict[str, str]:
    """Probabilities and submissions."""
    return {path: digest for path, digest in answers.items() if path.endswith((".parquet", ".csv"))}


def _of_run(place: Workplace) -> dict[str, str]:
    return _only_runs(place.answers())


def _records(place: Workplace) -> dict[str, tuple[int, int]]:
    """Time and inode of what tells that something was made, by label and name."""
    found = {
        **{f"{path.parents[1].name}/{path.parent.name}": path for path in place.run.rglob("fold-*/job.json")},
        "stack/": place.run / "stack" / "stack.json",
    }
    return {name: (path.stat().st_mtime_ns, path.stat().st_ino) for name, path in found.items()}
