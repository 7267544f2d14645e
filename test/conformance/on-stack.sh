#!/usr/bin/env bash
# The conformance tests, or those of them that are named, through the gateway of a stack of its own, as processes on the engines of AMQP_URL and MONGODB_URL, or on those of this checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

home="$(mktemp -d)"
export STACK_HOME="$home" STACK_PORT="${STACK_PORT:-8780}"
# Requests that are sent at once may be handled seconds apart on a slow machine.
export OAUTH_REFRESH_RACE_WINDOW=15s
# That a slow machine refuses some is another matter.
export SHEDDING=0
end() {
  npm run --silent stack -- down || true
  rm -rf "$home"
}
trap end EXIT

said="$(npm run --silent stack -- up)"
eval "$(grep '^ *export ' <<<"$said")"

# What it prints for a first account does what it says.
first="$(eval "$(grep -E '^ *(TOKEN=|curl )' <<<"$said")")"
grep -q '"name":"Ada"' <<<"$first" || { echo "conformance: the first account was answered with '$first'" >&2 && exit 1; }

if [ "${STACK_LOGINS:-}" ]; then
  # The tests publish as the recording pipeline, and read what bubbles-query has stored.
  unset AMQP_URL_FILE
  AMQP_URL="$(<"$STACK_LOGINS/recording-pipeline/AMQP_URL")" MONGODB_URL="$(<"$STACK_LOGINS/bubbles-query/MONGODB_URL")"
  export AMQP_URL MONGODB_URL
fi
npm run jest -- -i "${@:-test/conformance}" --testPathIgnorePatterns '[.]sandbox[.]test[.]ts$'
