"""Gets models onto this machine and says where they lie. No torch; transformers only behind `models.gguf.convert`.

    pull(ref)    make sure that the model is here, download and convert what is missing
    locate(ref)  the folder to load, from what is here already; never touches the network

The engine locates, only a person pulls.
"""

from completion_server.pull.fetch import locate, pull
from completion_server.pull.progress import Progress, silent

__all__ = ["Progress", "locate", "pull", "silent"]
