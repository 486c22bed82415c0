"""Linear models with few non-zero coefficients: lasso, elastic net, bridge, best subset."""
