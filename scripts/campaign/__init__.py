"""The campaign: everything that must never make a result lie, tried at random and from the outside.

A part is a file here: it tries one kind of harm through the commands that a user has, and yields an outcome for each
try. ``tries`` runs them and counts, ``children`` holds the commands' processes, ``workplace`` the small run that they
work on. An attempt depends on part, seed and number alone, so that each failure can be repeated.
"""
