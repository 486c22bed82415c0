"""States, steps and the one driver that runs them."""
