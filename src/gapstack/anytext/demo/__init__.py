"""A page to try texts on, and the server behind it, which this machine alone reaches."""

from gapstack.anytext.demo.server import DemoServer

__all__ = ["DemoServer"]
