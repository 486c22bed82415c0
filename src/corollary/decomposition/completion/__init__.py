"""Tables of low rank, completed."""
