"""Mixtures of unknown size: a Dirichlet process, and collapsed Gibbs sampling of its partition."""
