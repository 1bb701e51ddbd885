"""Reference data that podledger ships, and how it is read (see README.md in this folder)."""
