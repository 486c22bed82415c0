"""How often intervals and sets cover: laws, measures and pictures."""
