"""What Standfast costs in a model's context, counted in tokens of o200k_base."""
