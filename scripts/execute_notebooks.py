"""Run all notebooks from top to bottom and write them with their outputs: ``python scripts/execute_notebooks.py``."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def execute(path: Path) -> nbformat.NotebookNode:
    """Give the notebook with the outputs of a fresh run in its folder; CellExecutionError if a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata = nbformat.NotebookNode()
    client = NotebookClient(
        notebook,
        timeout=250,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    notebook.metadata.language_info.pop("version", None)
    for cell in notebook.cells:
        # what goes to stderr are warnings, which tell of the machine
        cell.outputs = [output for output in cell.get("outputs", ()) if output.get("name") != "stderr"]
        if cell.cell_type != "code":
            del cell["outputs"]
    return notebook


if __name__ == "__main__":
    for notebook_path in sorted(FOLDER.glob("*.ipynb")):
        sys.stdout.write(f"{notebook_path.name}\n")
        nbformat.write(execute(notebook_path), notebook_path)
