"""A scripted model on loopback that speaks the providers' own protocols."""
