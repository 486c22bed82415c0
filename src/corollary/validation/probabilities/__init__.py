"""How good predicted probabilities are: scores, reliability, agreement of posteriors."""
