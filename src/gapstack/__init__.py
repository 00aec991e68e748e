"""Reference system for gendered ambiguous pronouns (GAP).

Given a snippet, a pronoun and two names: how probable are A, B and neither? Everything that answers is a member
(:mod:`gapstack.members`), cross-validated and stacked by :mod:`gapstack.runs`, scored by :mod:`gapstack.scoring`.
"""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())  # the log is shown by whoever configures it

__version__ = "0.1.0"
