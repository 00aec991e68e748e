"""Runs: recipes, cross-validation whose stored results survive interruptions, and prediction of new rows."""
