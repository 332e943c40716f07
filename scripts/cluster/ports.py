"""Ports of processes that are started again."""

import random
import socket
import threading
from contextlib import suppress

reserved: set[int] = set()
reserving = threading.Lock()


def free_port() -> int:
    """A port that no outgoing connection takes while its process is down: below the range of Linux for them."""
    with reserving:
        while True:
            port = random.randrange(16_384, 32_768)
            with suppress(OSError):
                if port not in reserved:
                    socket.create_server(("127.0.0.1", port)).close()
                    reserved.add(port)
                    return port
