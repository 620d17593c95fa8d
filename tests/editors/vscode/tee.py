"""Stands between the editor and `foretype lsp` and writes down what they say: `tee.py LOG COMMAND…`.

A line of JSON for each message: seconds, who sent it, the message.
"""

import json
import subprocess
import sys
import threading
import time
from typing import IO


def relay(source: IO[bytes], sink: IO[bytes], sender: str, log: IO[str]) -> None:
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
    assert server.stdin is not None
    assert server.stdout is not None
    with open(log_file, "a") as log:  # noqa: PTH123 - one call in a script
        back = threading.Thread(target=relay, args=(server.stdout, sys.stdout.buffer, "server", log), daemon=True)
        back.start()
        relay(sys.stdin.buffer, server.stdin, "client", log)
        back.join(5)
    return server.wait(5)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
