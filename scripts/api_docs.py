"""Write API documentation from the docstrings, with pdoc: ``python scripts/api_docs.py site/`` (extra ``docs``)."""

import sys
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages

import pdoc

import gapstack


def main(folder: Path) -> None:
    """Write a page for each module below ``folder``."""
    packages = [gapstack.__name__]
    packages += [found.name for found in walk_packages(gapstack.__path__, "gapstack.") if found.ispkg]
    for package in map(import_module, packages):
        public = getattr(package, "__all__", None)
        if public is not None:  # pdoc shows what it names and nothing else, and does not import lazily
            vars(package).update({name: getattr(package, name) for name in public})
            modules = {found.name for found in iter_modules(package.__path__)} - {"__main__"}
            package.__all__ = [*public, *sorted(modules - set(public))]
    # constructors that are made of annotations of other modules are shown as these are written
    warnings.filterwarnings("ignore", message="Error parsing type annotation")
    pdoc.render.configure(docformat="numpy")
    pdoc.pdoc("gapstack", output_directory=folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
