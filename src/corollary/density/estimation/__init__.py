"""What bounds estimators, and how good they are."""
