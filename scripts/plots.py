"""Plots of the documents, as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from gapstack.files import atomic_path


@contextmanager
def svg(place: Path) -> Iterator[ModuleType]:
    """Give pyplot to a block that draws one figure, and write that: the same bytes for the same figure.

    Needs matplotlib (``pip install -e '.[docs]'``).
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "gapstack"
    yield pyplot
    pyplot.tight_layout()
    with atomic_path(place) as temporary:
        pyplot.savefig(temporary, format="svg", metadata={"Date": None})
