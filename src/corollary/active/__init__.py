"""What to ask next: queries that teach the most, and stay safe."""
