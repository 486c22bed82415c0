"""What a learner owes to single rows: stability, and rows it does not need."""
