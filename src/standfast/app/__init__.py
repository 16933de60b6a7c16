"""The composition root: the only place that knows every part and puts them together."""
