"""The Gaussian model with a few latent variables."""
