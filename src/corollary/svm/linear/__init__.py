"""Linear machines for many rows and features."""
