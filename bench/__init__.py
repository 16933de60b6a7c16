"""Measurements, each with its floor or its peer in the same run. `python -m bench` runs them all."""
