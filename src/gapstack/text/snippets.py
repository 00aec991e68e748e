"""The size of GAP's snippets (Webster et al. 2018, section 3.1), for who mines others; imports nothing."""

PER_PAGE = 3
"""Rows of one gender that a page gives at most, as in the paper."""
WORDS = 100
"""Tokens of a snippet at most; 92% of GAP development's have no more."""
