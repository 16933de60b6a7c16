"""Readers of the clients' session files. Every transcript here is synthetic."""
