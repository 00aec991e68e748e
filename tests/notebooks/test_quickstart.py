from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert "quickstart" in [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path):
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert code
    assert not any(cell.outputs or cell.execution_count for cell in code)


def test_the_quickstart_runs_from_top_to_bottom():
    notebook = nbformat.read(FOLDER / "quickstart.ipynb", as_version=4)
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(FOLDER)}}).execute()
    shown = {
        kind: "".join(
            str(output.get("text", "")) + str(output.get("data", {}).get(kind, ""))
            for cell in notebook.cells
            for output in cell.get("outputs", ())
        )
        for kind in ("text/plain", "text/html")
    }
    assert "surface" in shown["text/plain"]
    assert "logloss" in shown["text/plain"]
    assert shown["text/html"].count("<sub>pronoun</sub>") == 8, "three rows to begin with and five mistakes"
