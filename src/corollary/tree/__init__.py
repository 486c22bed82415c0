"""Decision trees: exact and histogram splits, pruning, and the flat arrays that hold them."""
