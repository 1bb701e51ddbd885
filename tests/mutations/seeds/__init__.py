"""Small whole files of each format, to mutate."""
