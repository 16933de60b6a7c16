"""The agent clients whose hooks are known: the word of the command line, and the name of their sessions.

The name is also what the client calls itself over MCP. Imports nothing: the hook process reads it at its start.
"""

HOOKED = {"claude": "claude-code"}
CONNECTED = ("claude", "codex", "pi", "opencode", "gemini", "qwen", "hermes")
