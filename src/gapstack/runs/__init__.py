"""Runs: recipes, cross-validation with a store that survives kills, and prediction of new rows."""

from gapstack.runs.crossval import Result, Run, run
from gapstack.runs.folder import RunFolder, home
from gapstack.runs.predict import predict, predict_file
from gapstack.runs.recipe import Recipe, available

__all__ = ["Recipe", "Result", "Run", "RunFolder", "available", "home", "predict", "predict_file", "run"]
