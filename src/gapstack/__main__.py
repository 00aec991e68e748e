"""``python -m gapstack``: the command line."""

from pkgutil import resolve_name

resolve_name("gapstack.cli:main")()  # by name, since top-level modules import no package
