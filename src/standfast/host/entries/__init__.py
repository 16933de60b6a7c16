"""The catalogue's entries, a module for each group of nouns."""
