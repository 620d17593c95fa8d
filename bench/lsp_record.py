"""Stands between an editor and its language server and writes down what they say; reads it again.

`python -m bench.lsp_record FILE COMMAND…` runs the server. A line of JSON for each message: seconds, who sent it, the
message. It holds what is typed: for tests and measurements with text of their own only.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any


def read(file: Path) -> list[dict[str, Any]]:
    """The messages so far, oldest first."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def most_live(messages: Iterable[Mapping[str, Any]], method: str) -> int:
    """The most requests of `method` that ran at one time: neither answered nor cancelled by the editor."""
    live: set[object] = set()
    most = 0
    for message in messages:
        if message.get("method") == method and "id" in message:
            live.add(message["id"])
            most = max(most, len(live))
        elif message.get("method") == "$/cancelRequest":
            live.discard(message["params"]["id"])
        elif message["from"] == "server" and "method" not in message:
            live.discard(message.get("id"))
    return most


def _relay(source: IO[bytes], sink: IO[bytes], sender: str, log: IO[str]) -> None:
    while head := source.readline():
        length = 0
        while head.strip():
            name, _, value = head.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
            head = source.readline()
        body = source.read(length)
        entry = {"at": time.time(), "from": sender, **json.loads(body)}
        log.write(json.dumps(entry) + "\n")
        log.flush()
        sink.write(b"Content-Length: %d\r\n\r\n%s" % (length, body))
        sink.flush()
    sink.close()


def main(log_file: str, *command: str) -> int:
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if server.stdin is None or server.stdout is None:
        raise OSError("the server has no pipes")
    with Path(log_file).open("a") as log:
        back = threading.Thread(target=_relay, args=(server.stdout, sys.stdout.buffer, "server", log), daemon=True)
        back.start()
        _relay(sys.stdin.buffer, server.stdin, "client", log)
        back.join(5)
    return server.wait(5)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
