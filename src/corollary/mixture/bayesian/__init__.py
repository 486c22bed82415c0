"""Laws of weights and of partitions: Dirichlet, stick-breaking, Dirichlet process, restaurant."""
