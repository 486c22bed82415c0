"""Expected and empirical risks, and where they come from."""
