"""Boolean functions: Winnow and its kin."""
