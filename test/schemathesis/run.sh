#!/usr/bin/env bash
# schemathesis over the document that a sandbox of its own serves, against that sandbox. SCHEMATHESIS_SEED repeats a run, SCHEMATHESIS_EXAMPLES sets its length.
# The last line counts: "Tests: N failed, N passed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work="$(mktemp -d)"
child=""
end() {
  if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null && wait "$child" || true; fi
  rm -rf "$work"
}
trap end EXIT

schemathesis="$(command -v schemathesis || true)"
if [ -z "$schemathesis" ]; then
  python3 -m venv "$work/tools"
  "$work/tools/bin/pip" install --quiet --disable-pip-version-check --requirement test/schemathesis/requirements.txt
  schemathesis="$work/tools/bin/schemathesis"
fi

PORT=0 SIGNUP_STARTS_PER_CLIENT=1000000 node deploy/launch.mjs deploy/sandbox/src/main.ts --data :memory: >"$work/out" 2>"$work/log" &
child=$!
until grep -q '^Listening on ' "$work/out"; do
  kill -0 "$child" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.25
done
SANDBOX_URL="$(sed -n 's/^Listening on //p' "$work/out")"
export SANDBOX_URL

status=0
PYTHONPATH=test/schemathesis timeout 600 "$schemathesis" --config-file test/schemathesis/schemathesis.toml run "$SANDBOX_URL/v1/openapi.json" \
  --continue-on-failure --max-examples "${SCHEMATHESIS_EXAMPLES:-40}" --seed "${SCHEMATHESIS_SEED:-$RANDOM}" | tee "$work/said" || status=$?
if grep '"level":"error"' "$work/log"; then status=1; fi
failed="$(sed -nE 's/^.* found ([0-9]+) unique failures?.*$/\1/p' "$work/said")"
passed="$(sed -nE 's/^ *Tested: ([0-9]+).*$/\1/p' "$work/said")"
if [ "$status" -eq 0 ]; then failed=0; else failed="${failed:-1}" passed=0; fi
echo "Tests: $failed failed, ${passed:-0} passed"
[ "$failed" -eq 0 ] && [ "${passed:-0}" -gt 0 ]
