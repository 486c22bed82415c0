"""Jackknife+ and CV+: every row calibrates a model that has not seen it."""
