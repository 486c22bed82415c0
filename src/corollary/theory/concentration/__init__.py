"""How far sums, counts, quantiles and sequences stray from what they estimate."""
