"""Methods that take a problem apart: multipliers, ADMM, consensus."""
