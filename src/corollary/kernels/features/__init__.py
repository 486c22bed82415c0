"""Feature maps: exact, random, and from a sample of rows."""
