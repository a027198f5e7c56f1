"""TypeScript with a memory: `python -m examples.typescript_memory` runs both examples of examples/typescript.

It installs and builds them first, which needs npm and, the first time, its registry. They themselves need no network.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from examples.stack import own_gateway

ROOT = Path(__file__).parent.parent
CLIENT = ROOT / "clients" / "typescript"
EXAMPLES = ROOT / "examples" / "typescript"
PROGRAMS = ("fetch_host", "ai_sdk")


def run(program: str, *arguments: str, folder: Path, variables: Mapping[str, str] | None = None) -> None:
    """Run a program of Node's to its end. Raises CalledProcessError; exits where there is none."""
    path = shutil.which(program)
    if path is None:
        sys.exit(f"{program} is not installed: apt-get install nodejs npm (Node 20 or newer), or https://nodejs.org")
    subprocess.run([path, *arguments], cwd=folder, env=os.environ | (variables or {}), check=True)  # noqa: S603 (ours)


def prepare() -> None:
    """Install what the locks name, unless it is there, and build the client and both examples."""
    for folder, build in ((CLIENT, "build.mjs"), (EXAMPLES, "node_modules/typescript/bin/tsc")):
        if not (folder / "node_modules").exists():
            print(f"Installing what {folder.relative_to(ROOT)} needs …")
            run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=folder)
        run("node", build, folder=folder)


def main() -> None:
    """Run both on servers of their own."""
    prepare()
    with own_gateway() as variables:
        for program in PROGRAMS:
            print(f"\n{program}.ts", flush=True)
            run("node", f"dist/{program}.js", folder=EXAMPLES, variables=variables)


if __name__ == "__main__":
    main()
