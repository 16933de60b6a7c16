"""The page where a person sees what waits and decides: HTML fragments from the server, one small script."""
