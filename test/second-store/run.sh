#!/usr/bin/env bash
# The tests of the stores, or those of them that are named, on SecantusDB: a new engine for each file, since it becomes slower with all that it was told.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# In memory where there is room, since these tests do not kill the engine and every write waits for its journal.
[ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 2000000 ] 2>/dev/null && export TMPDIR=/dev/shm
home="$(mktemp -d)"
unset TMPDIR
SECANTUSDB_BIN="$(bash deploy/engines/secantusdb.sh)" || exit
export ENGINES_HOME="$home/engines" SECANTUSDB_BIN
# No broker: whatever is named is used.
engines() { AMQP_URL=none MONGODB_URL='' bash deploy/engines/engines.sh "$@"; }
jest() { npm run --silent jest -- -i --config test/second-store/jest.config.mjs "$@"; }
forget() {
  engines down || true
  rm -rf "$ENGINES_HOME"
}
trap 'forget; rm -rf "$home"' EXIT

export MONGODB_URL=none
files="$(jest --listTests "$@")" || exit
[ "$files" ] || { echo "second-store: no test of a store is named ${*}" >&2 && exit 1; }
status=0
for file in $files; do
  MONGODB_URL="$(engines up | sed -n 's/^MONGODB_URL=//p')"
  [ "$MONGODB_URL" ] || exit 1
  jest --runTestsByPath "$file" || status=1
  forget
done
exit $status
