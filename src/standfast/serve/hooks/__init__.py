"""Hooks of the clients: what each client reports, translated into operations, and the answers back."""
