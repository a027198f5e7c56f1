"""A proxy that speaks TLS before a server that doesn't, and certificates made for one test."""

import asyncio
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SSL_REQUEST = struct.pack("!ii", 8, 80877103)
"""What libpq sends first where it wants TLS; the server answers S and the handshake follows."""


def authority(folder: Path, name: str) -> Path:
    """A new authority; answers its certificate's file, beside which lies its key."""
    folder.mkdir(exist_ok=True)
    made = folder / f"{name}.pem"
    where = ("-keyout", str(made.with_suffix(".key")), "-out", str(made))
    _openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", *where)
    return made


def certificate(ca: Path, host: str) -> tuple[Path, Path]:
    """A certificate for a host, signed by an authority; answers (certificate, key)."""
    made = ca.with_name(f"{ca.stem}-{host}.pem")
    key, request, names = (made.with_suffix(suffix) for suffix in (".key", ".csr", ".ext"))
    kind = "IP" if host[0].isdigit() else "DNS"
    names.write_text(f"subjectAltName={kind}:{host}\n")
    _openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=server", "-keyout", str(key), "-out", str(request))
    signing = ("-CA", str(ca), "-CAkey", str(ca.with_suffix(".key")), "-CAcreateserial", "-days", "2")
    _openssl("x509", "-req", "-in", str(request), "-out", str(made), "-extfile", str(names), *signing)
    return made, key


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@contextmanager
def tls_before(server: str | tuple[str, int], pair: tuple[Path, Path], *, postgres: bool = False) -> Iterator[int]:
    """The port of a proxy on the loopback address. server: a Unix socket's path, or host and port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    loop = asyncio.new_event_loop()
    writers: list[asyncio.StreamWriter] = []
    carrying: list[asyncio.Task[None]] = []

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if postgres:
                assert await reader.readexactly(8) == SSL_REQUEST
                writer.write(b"S")
                await writer.drain()
                await writer.start_tls(context)
            if isinstance(server, str):
                behind_reader, behind_writer = await asyncio.open_unix_connection(server)
            else:
                behind_reader, behind_writer = await asyncio.open_connection(*server)
        except (OSError, EOFError):  # a client that does not trust this goes away again
            writer.close()
            return
        writers.append(behind_writer)
        await asyncio.gather(_copy(reader, behind_writer), _copy(behind_reader, writer))

    def let_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        carrying.append(loop.create_task(carry(reader, writer)))

    started = loop.run_until_complete(asyncio.start_server(let_in, "127.0.0.1", 0, ssl=None if postgres else context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield started.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(_end(started, writers), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


async def _end(server: asyncio.Server, writers: list[asyncio.StreamWriter]) -> None:
    """Close every connection at once: one that is only told to close waits half a minute for the client's goodbye."""
    for listening in server.sockets:
        asyncio.get_running_loop().remove_reader(listening)
    for _ in range(5):  # rounds of the loop: a server that is closed at once loses whoever it was just letting in
        await asyncio.sleep(0)
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
    for writer in writers:
        with suppress(AttributeError):  # Python 3.11 forgets the protocol of a connection that the client closed
            writer.transport.abort()
    await asyncio.sleep(0)  # in this round their sockets are closed
    server.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
