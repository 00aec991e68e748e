"""Runs: recipes, cross-validation with a store that survives kills, and prediction of new rows."""
