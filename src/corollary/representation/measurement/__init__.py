"""What was measured: types of data, scales, probability spaces and their sizes."""
