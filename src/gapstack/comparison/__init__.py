"""What is measured of several predictors on the same rows: intervals, tests, contributions, label errors."""
