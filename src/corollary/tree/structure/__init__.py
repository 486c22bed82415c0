"""Trees as flat arrays, and how they are cut back."""
