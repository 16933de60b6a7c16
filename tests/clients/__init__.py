"""Real agent clients, each driven headless against a scripted model: what every client must show."""
