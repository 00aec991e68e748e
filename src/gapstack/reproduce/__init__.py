"""The papers' tables and experiments, theirs beside ours."""
