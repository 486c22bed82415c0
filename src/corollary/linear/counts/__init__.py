"""Models of counts and rates."""
