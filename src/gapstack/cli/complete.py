"""Shell completion of the names of runs, recipes, members, suites and data sets."""

from __future__ import annotations

from collections.abc import Iterable


def runs(incomplete: str) -> list[str]:
    """Names of local runs, and ``RUN:MEMBER`` once the run is typed."""
    from gapstack.runs.folder import STACK, home, run_names

    run, colon, _ = incomplete.partition(":")
    names = run_names()
    if colon:
        labels = sorted(path.name for path in (home() / "models" / run / "members").glob("*"))
        names = [f"{run}:{label}" for label in (*labels, STACK)]
    return _beginning(names, incomplete)


def recipes(incomplete: str) -> list[str]:
    """Names of recipes of the package."""
    from gapstack.runs import available

    return _beginning(available(), incomplete)


def members(incomplete: str) -> list[str]:
    """Names of members."""
    from gapstack.members import MEMBERS

    return _beginning(MEMBERS, incomplete)


def suites(incomplete: str) -> list[str]:
    """Names of the audit's suites."""
    from gapstack.audits import SUITES

    return _beginning(SUITES, incomplete)


def datasets(incomplete: str) -> list[str]:
    """Names of data sets."""
    from gapstack.data.datasets import DATASETS

    return _beginning(DATASETS, incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
