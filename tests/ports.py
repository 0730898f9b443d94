"""Ports for servers that other processes start: nobody else gets one between its choice and its use.

In:   nothing.
Out:  the number of a port of this machine.

A socket of this process stays bound to it without listening: the system gives the port to nobody who asks for
any, nor to a connection, while a server that asks for this one gets it (all set SO_REUSEADDR).
"""

import socket

_held: list[socket.socket] = []  # as long as this process


def hold_port() -> int:
    """A free port of 127.0.0.1, kept for whoever is told its number."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    line.bind(("127.0.0.1", 0))
    _held.append(line)
    return int(line.getsockname()[1])
