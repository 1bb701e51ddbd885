"""The labelled fleet: many pods whose traffic is known, rendered as real exports.

The truth is kept apart from the exports, and nothing here imports the code that is measured.
"""
