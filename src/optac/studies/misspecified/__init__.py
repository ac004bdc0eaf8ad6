"""Opt-AC where the model is only nearly right."""
