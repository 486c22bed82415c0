"""The compiled loops of ensembles."""
