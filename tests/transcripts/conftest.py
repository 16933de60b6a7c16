"""Settings of the generated transcripts: `STANDFAST_EXAMPLES=20000` is the long form of the fuzzers."""

import os

from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile(
    "transcripts",
    deadline=None,
    max_examples=int(os.environ.get("STANDFAST_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("transcripts")
