"""Methods that walk through the inside of the feasible set."""
