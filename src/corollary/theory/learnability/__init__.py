"""How many rows a class takes to be learnt, and when none suffice."""
