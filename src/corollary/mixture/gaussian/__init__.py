"""Mixtures of Gaussian laws: the law, its likelihoods, and the fit by EM."""
