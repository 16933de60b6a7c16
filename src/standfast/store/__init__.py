"""To be opened with its theory of operation."""
