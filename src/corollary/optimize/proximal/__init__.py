"""Methods for sums of a smooth function and one with a proximal operator."""
