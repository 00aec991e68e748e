"""What pyproject.toml cannot say: a wheel carries the parser and the models of ``models/`` inside the package.

A checkout reads them where they lie; see ``gapstack.language.parses.find_parser`` and
``gapstack.runs.predictors.shipped_model``.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

MODELS = ("en_gapstack", "gapstack-small", "gapstack-text")


class BuildWithModels(build_py):
    """Copies the models that are there beside the modules."""

    def run(self) -> None:
        """Build the modules, and unless this is an editable installation, copy the models."""
        super().run()
        if self.editable_mode:
            return
        for name in MODELS:
            source = Path(__file__).parent / "models" / name
            if source.is_dir():
                shutil.copytree(source, Path(self.build_lib) / "gapstack" / name, dirs_exist_ok=True)
            else:
                self.announce(f"models/{name} is not there: the wheel will not have it", level=3)


setup(cmdclass={"build_py": BuildWithModels})
