"""Tell other programs how to connect to a running stack: `NAME=value` lines, or a sentence while it is not ready."""

from collections.abc import Mapping
from pathlib import Path

from slowwave_server.workers.stack.data_folder import DataFolder, write_private
from slowwave_server.workers.stack.errors import NotReady


def write_environment(folder: DataFolder, variables: Mapping[str, str]) -> None:
    """Publish the variables; readers see all of them or none."""
    write_private(folder.environment, "".join(f"{name}={value}\n" for name, value in variables.items()))


def environment_of(data: Path) -> list[str]:
    """Return the `NAME=value` lines that connect to the stack on `data`.

    Raises NotReady with a sentence that says whether no stack runs there, or it is still starting, or stopping.
    """
    folder = DataFolder(data)
    holder = folder.holder()
    if not folder.is_claimed():
        raise NotReady(f"no stack runs on {folder.root}: start one with `slowwave up --data {folder.root}`")
    if holder is None or holder.phase == "starting":
        raise NotReady(f"the stack on {folder.root} is still starting: try again in a few seconds")
    if not holder.alive:
        raise NotReady(f"the stack on {folder.root} lost its supervisor and is stopping: start it again")
    if holder.phase == "stopping":
        raise NotReady(f"the stack on {folder.root} is stopping")
    try:
        return folder.environment.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise NotReady(f"the stack on {folder.root} is stopping") from None
