"""Select ports: given, remembered or free ones, so that a stack has the same addresses at every start."""

import json
import socket
from collections.abc import Mapping
from pathlib import Path

from slowwave_server.workers.stack.data_folder import read_kept, write_private
from slowwave_server.workers.stack.errors import PortTaken

HOST = "127.0.0.1"


def is_free(port: int) -> bool:
    """Return True if a server could listen on this port of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: lingering connections of an earlier run are no obstacle, but a listener is.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _any_free(taken: set[int]) -> int:
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind((HOST, 0))
            port: int = probe.getsockname()[1]
        if port not in taken:
            return port


def settle_ports(file: Path, given: Mapping[str, int]) -> dict[str, int]:
    """Return a free port for each name, and remember the ports in `file`.

    given: ports by name; 0 reuses the last port or picks a free one. Raises PortTaken for a given port on which another
    program listens; a remembered port that is taken is replaced by another. Raises StackFailed for an unreadable file.
    """
    remembered = read_kept(file, int, "the next start chooses ports again")
    settled: dict[str, int] = {}
    for name, port in given.items():
        if port and not is_free(port):
            raise PortTaken(f"port {port} for {name} is taken: give another, or stop the program that uses it")
        if port in settled.values() and port:
            raise PortTaken(f"port {port} is given for {name} and for another server: give each its own")
        wanted = port or remembered.get(name, 0)
        usable = wanted and wanted not in settled.values() and is_free(wanted)
        settled[name] = wanted if usable else _any_free(set(given.values()) | set(settled.values()))
    if settled != remembered:
        write_private(file, json.dumps(remembered | settled, indent=2))
    return settled
