#!/usr/bin/env bash
# The conformance tests, or those of them that are named, against a stack on engines of its own where every service and job logs in as its own user, with the
# rights that the code derives. Takes python3 with venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

home="$(mktemp -d)"
unset AMQP_URL MONGODB_URL
export ENGINES_HOME="$home/engines" STACK_LOGINS="$home/secrets"
end() {
  bash deploy/engines/engines.sh down || true
  rm -rf "$home"
}
trap end EXIT

mkdir "$STACK_LOGINS"
urls="$(bash test/second-store/engines-with-logins.sh "$STACK_LOGINS")"
while IFS='=' read -r name url; do export "$name=$url"; done <<<"$urls"
bash test/conformance/on-stack.sh "$@"
