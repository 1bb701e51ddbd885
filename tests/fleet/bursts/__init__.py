"""A labelled fleet whose pods move most of their bytes in their first seconds."""
