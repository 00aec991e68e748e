"""The embedded sample: hand-written snippets in GAP format for tests and for the quickstart (see README.md)."""
