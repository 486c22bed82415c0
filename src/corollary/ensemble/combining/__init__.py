"""Different learners as one: averages, votes and stacks."""
