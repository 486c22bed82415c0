"""Images and sounds as numbers that models can compare."""
