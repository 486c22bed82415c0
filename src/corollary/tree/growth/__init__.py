"""How a tree grows: criteria, splits, constraints."""
