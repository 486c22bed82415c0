"""What neighbours achieve in the limit, and how many rows that takes."""
