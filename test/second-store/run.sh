#!/usr/bin/env bash
# The tests of the stores, or those of them that are named, on SecantusDB: an engine of their own, which ends with them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# In memory where there is room, since these tests do not kill the engine and every write waits for its journal.
[ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 2000000 ] 2>/dev/null && export TMPDIR=/dev/shm
home="$(mktemp -d)"
unset TMPDIR
SECANTUSDB_BIN="$(bash deploy/engines/secantusdb.sh)"
export ENGINES_HOME="$home" SECANTUSDB_BIN
# No broker: whatever is named is used.
engines() { AMQP_URL=none MONGODB_URL='' bash deploy/engines/engines.sh "$@"; }
end() {
  engines down || true
  rm -rf "$home"
}
trap end EXIT

MONGODB_URL="$(engines up | sed -n 's/^MONGODB_URL=//p')"
export MONGODB_URL
npm run jest -- -i --config test/second-store/jest.config.mjs "$@"
