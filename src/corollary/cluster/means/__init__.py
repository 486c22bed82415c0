"""k-means: seeding, descent, guarantee and the estimators."""
