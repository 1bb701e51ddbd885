"""A fleet in which it is known what every run waited for, rendered as exports.

Truth first: each pod spends its seconds one by one on a cause, and what it does leaves traces. They
are written as real sources write them, with their rounding, and of some pods one source's are left
out. Nothing of the product is imported, but by what builds and compares.
"""
