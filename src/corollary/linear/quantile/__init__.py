"""Linear quantile regression."""
