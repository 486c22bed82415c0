"""From tables of mixed columns to numbers: columns, the plans that encode them, the encoder."""
