"""Features on a common footing: standardisation, whitening, outliers."""
