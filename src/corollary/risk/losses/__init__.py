"""What a loss is, and all of them."""
