"""Laws of outcomes: how far apart they are, what is best under them, and finite ones."""
