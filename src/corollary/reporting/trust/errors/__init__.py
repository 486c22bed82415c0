"""How wrong the predictions are on the test rows: rates, sizes, classes, groups, single rows."""
