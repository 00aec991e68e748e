"""What is measured of several predictors on the same rows: intervals, paired tests, contributions, slices, label errors."""
