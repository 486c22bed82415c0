"""Friedman's gradient boosting: exact trees along the negative gradient of a loss."""
