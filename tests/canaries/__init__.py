"""Secrets planted in every place of every format, and the search for them."""
