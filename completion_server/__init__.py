"""The engine process: sockets, scheduling, KV memory, models, prompts and the command line.

The torch-free part that a front end may import is `completion_server.client`, `.protocol` and `.errors`.
"""

__version__ = "0.1.0"
