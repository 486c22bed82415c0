"""Models with latent variables, their identities, and expectation-maximisation."""
