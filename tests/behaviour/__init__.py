"""Behaviours of the product, through its public doors, on every store."""
