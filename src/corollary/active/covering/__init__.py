"""Cover a pool with balls: whom to label, and what the nearest labels are worth."""
