#!/usr/bin/env bash
# restart.sh NAMESPACE PART…: lets each part read its Secret again. Where External Secrets makes the Secret, it is read from the store first: a pod that
# starts before that would go on with the old keys. No server is restarted before every Secret is up to date.
set -euo pipefail
namespace="${1:?"Usage: restart.sh NAMESPACE PART…"}"
shift
[ $# -gt 0 ] || { echo "Usage: restart.sh NAMESPACE PART…" >&2; exit 2; }
kind=externalsecrets.external-secrets.io

# Another version once the controller has read the store for the object with our annotation.
synced() { kubectl get "$kind" "$1" --namespace "$namespace" --output jsonpath='{.status.syncedResourceVersion}'; }

sync() {
  local before now
  before="$(synced "$1")"
  kubectl annotate "$kind" "$1" --namespace "$namespace" --overwrite "force-sync=$(date +%s)-$$"
  for _ in $(seq "${SYNC_SECONDS:-60}"); do
    now="$(synced "$1")" || now="$before"
    [ "$now" != "$before" ] && return
    sleep 1
  done
  kubectl get "$kind" "$1" --namespace "$namespace" --output jsonpath='{.status.conditions[*].message}{"\n"}' >&2 || true
  echo "the Secret of $1 was not read from the store: no server was restarted" >&2
  exit 1
}

if [ -n "$(kubectl get customresourcedefinition "$kind" --ignore-not-found --output name)" ]; then
  for part in "$@"; do
    # In a line of its own, so that a failure ends this script.
    made="$(kubectl get "$kind" "$part" --namespace "$namespace" --ignore-not-found --output name)"
    if [ -n "$made" ]; then sync "$part"; fi
  done
fi

for part in "$@"; do
  # Jobs and operators' commands have none: their next pod reads the Secret.
  server="$(kubectl get deployment "$part" --namespace "$namespace" --ignore-not-found --output name)"
  [ -n "$server" ] || continue
  kubectl rollout restart --namespace "$namespace" "deployment/$part"
  kubectl rollout status --namespace "$namespace" "deployment/$part" --timeout "${ROLLOUT_WAIT:-10m}"
done
