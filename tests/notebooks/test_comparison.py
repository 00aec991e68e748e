"""The notebooks about comparing run from top to bottom and show what they are about."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "compare_members",
            (
                "95% intervals",
                "pairwise wins",
                "Shapley value",
                "counterfactual flips",
                "page.html: ",
                "p Holm",
            ),
        ),
        ("error_analysis", ("members right", "distance", "share right", "<sub>pronoun</sub>", "trust 0.")),
    ],
)
def test_the_notebook_runs_from_top_to_bottom(name, expected):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()
    shown = "".join(
        str(output.get("text", "")) + "".join(map(str, output.get("data", {}).values()))
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    )
    assert [text for text in expected if text not in shown] == []
