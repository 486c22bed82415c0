"""How rich classes of functions are: dichotomies, covers, signs and norms."""
