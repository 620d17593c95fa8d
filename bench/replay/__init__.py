"""Typing real code through the language server, and what a person waits for: `python -m bench.replay`."""
