"""Hypothesis draws the same examples every time: a failure today is a failure tomorrow."""

from hypothesis import settings

settings.register_profile("optac", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("optac")
