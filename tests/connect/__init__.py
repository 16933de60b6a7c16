"""Connecting clients: what is written into their configurations, and that exactly that is taken away again."""
