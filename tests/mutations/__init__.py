"""Mutations of export files, and what must still hold."""
