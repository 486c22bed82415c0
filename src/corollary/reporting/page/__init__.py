"""The page: sections, pictures and templates that turn records into words."""
