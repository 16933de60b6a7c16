"""`standfast connect CLIENT`: what a client needs to work with Standfast, written into its own configuration."""
