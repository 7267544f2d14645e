#!/usr/bin/env bash
# SecantusDB, a second MongoDB-compatible engine (Python on WiredTiger), in a virtual environment that is made once. Prints the folder to name as
# SECANTUSDB_BIN, with which engines.sh, the stack and the chaos suite run that engine. Takes python3 with venv.
set -euo pipefail

version=0.7.0b3
cache="${SECANTUSDB_HOME:-$HOME/.cache/bubbles-secantusdb}/$version"

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if [ ! -f "$cache/made" ]; then
  python3 -m venv --clear "$cache/venv" >&2
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check "secantusdb==$version" >&2
  touch "$cache/made"
fi
echo "$cache/venv/bin"
