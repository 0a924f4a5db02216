"""Property tests draw the same few examples in every run."""

from hypothesis import settings

settings.register_profile("lean", max_examples=25, deadline=None, derandomize=True)
settings.load_profile("lean")
