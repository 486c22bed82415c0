"""What rows of new owners are proved to do: owners are what counts."""
