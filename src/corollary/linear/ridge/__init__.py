"""Ridge regression: estimators, formulas, spectrum and path."""
