"""Programs as people write them: disciplined expressions, robust constraints, matrices to fit."""
