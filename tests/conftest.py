"""Settings that all tests share: hypothesis draws the same examples every time and has no clock."""

from hypothesis import settings

settings.register_profile("reproducible", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("reproducible")
