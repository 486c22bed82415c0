"""Methods that look at a few terms of a sum in each step."""
