"""Notebooks run from top to bottom and are committed with the outputs of such a run."""

import ast
import re
from importlib import import_module
from pathlib import Path

import nbformat
import numpy as np
import pytest

from gapstack.data import sources
from gapstack.errors import DataNotFoundError
from gapstack.runs.predictors import shipped_model
from scripts.execute_notebooks import FOLDER, execute

OF_THE_MODEL = ("any_text", "what_to_believe")
"""Those that show the model that ships."""
TRAINS_A_NETWORK = ("audit",)
"""Those whose figures differ by processor: what rounds otherwise in each step is another network after some hundred."""
NUMBER = re.compile(r"-?(?:\d+\.\d+|\.\d+|\d+(?:,\d{3})*)")
DRAWN = ("image/svg+xml",)
"""Outputs that are checked for being there alone: coordinates of a drawing."""


@pytest.fixture(params=sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem, scope="module")
def path(request) -> Path:
    if request.param.stem in OF_THE_MODEL:
        try:
            shipped_model()
        except DataNotFoundError as missing:
            pytest.skip(str(missing))
    return request.param


def texts(notebook: nbformat.NotebookNode) -> list[tuple[int, str, str]]:
    """Each output as the number of its cell, its kind and its text."""
    return [
        (number, kind, str(text))
        for number, cell in enumerate(notebook.cells)
        for output in cell.get("outputs", ())
        for kind, text in sorted(({"stream": output.text} if "text" in output else output.data).items())
    ]




def test_outputs_are_committed_in_the_order_of_one_run(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


def test_outputs_tell_nothing_of_a_machine(path):
    source = path.read_text(encoding="utf-8")
    assert re.findall(r"(?:/home|/root|/tmp|/Users|/work|\.venv|site-packages)\b[^\"\\]*", source) == []
    assert "Traceback" not in source


def test_names_are_public(path):
    """From the package itself or from a package in it that lists them, never from a module within."""
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for node in ast.walk(ast.parse("\n".join(cells))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("gapstack"):
            assert node.module.count(".") <= 1, node.module
            package = import_module(node.module)
            assert {alias.name for alias in node.names} <= {*getattr(package, "__all__", dir(package))}


@pytest.mark.documents
def test_a_fresh_run_gives_the_committed_outputs(path):
    if path.stem == "audit" and sources.find("winogender") is None:
        pytest.skip("the data of Winogender are not on this machine (see `gap data status`)")
    committed, fresh = texts(nbformat.read(path, as_version=4)), texts(execute(path))
    assert [output[:2] for output in fresh] == [output[:2] for output in committed]
    if path.stem in TRAINS_A_NETWORK:
        return
    for (cell, kind, expected), (_, _, text) in zip(committed, fresh, strict=True):
        if kind in DRAWN:
            continue
        where = f"cell {cell}, {kind}"
        assert words(text) == words(expected), where
        # libraries and processors differ in the last digits that are shown
        np.testing.assert_allclose(numbers(text), numbers(expected), rtol=0.02, atol=0.02, err_msg=where)


def words(text: str) -> str:
    return " ".join(NUMBER.sub("0", text).split())


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]
