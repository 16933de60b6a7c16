"""Standfast keeps what a coding agent must not lose: approved plans and their progress.

This package root stays empty of imports: the hook and the pipe start from here and must not pay for the host.
"""

__version__ = "0.1.0"
