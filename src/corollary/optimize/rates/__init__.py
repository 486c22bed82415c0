"""What first-order methods guarantee, and the functions on which they do no better."""
