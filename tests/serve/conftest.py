"""Settings of the tests in this folder."""

from hypothesis import settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
