"""Who is at the other end of a unix socket. Both ends ask: text goes only to, and comes only from, the same user."""

import os
import socket
import struct
import sys


def same_user(connected: socket.socket) -> bool:
    """Whether the process at the other end runs as this process's user.

    True where the system does not tell; there the folder's mode (see `paths`) is the only guard.
    """
    if sys.platform != "linux":
        return True
    credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII"))
    _pid, uid, _gid = struct.unpack("iII", credentials)
    return bool(uid == os.getuid())
