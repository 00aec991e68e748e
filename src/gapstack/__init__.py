"""Reference system for gendered ambiguous pronouns (GAP)."""
