"""Finding predictors of small empirical risk."""
