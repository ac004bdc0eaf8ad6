"""The named families of problems."""
