#!/usr/bin/env bash
# The conformance tests, or those of them that are named, through the gateway of a stack of its own, as processes on the engines of AMQP_URL and MONGODB_URL, or on those of this checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

home="$(mktemp -d)"
export STACK_HOME="$home" STACK_PORT="${STACK_PORT:-8780}"
end() {
  npm run --silent stack -- down || true
  rm -rf "$home"
}
trap end EXIT

said="$(npm run --silent stack -- up)"
eval "$(grep '^ *export ' <<<"$said")"
npm run jest -- -i "${@:-test/conformance}" --testPathIgnorePatterns '[.]sandbox[.]test[.]ts$'
