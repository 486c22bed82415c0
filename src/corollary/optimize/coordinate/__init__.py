"""Methods that move one coordinate after the other."""
