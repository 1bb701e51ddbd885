"""A fleet of which it is known what was fetched again, rendered as exports and bills.

Every fetch is told with the parts of a content that it moved; what was fetched again, and what that
cost, is counted here byte by byte. Nothing of the product is imported, but by what builds and
compares.
"""
