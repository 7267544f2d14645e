#!/usr/bin/env bash
# migrate.sh FOLDER WORDS…: runs the migration job of an overlay with these words, and shows what it says: migrate.sh deploy/kubernetes/overlays/prod --contract
set -euo pipefail
folder="${1:?"Usage: migrate.sh FOLDER WORDS…"}"
shift
[ $# -gt 0 ] || { echo "Usage: migrate.sh FOLDER WORDS…" >&2; exit 2; }
source "$(dirname "${BASH_SOURCE[0]}")/jobs.sh"

# A line of its own each, so that a failure ends this script. The job that apply.sh has run is gone a day later: its template is taken from the overlay.
overlay="$(kubectl kustomize "$folder")"
template="$(kubectl create --filename - --selector app.kubernetes.io/component=job,app.kubernetes.io/name=migration --dry-run=client --output json <<<"$overlay")"
namespace="$(node -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).metadata.namespace' <<<"$template")"
# The log of a long migration may end before it does.
run_job "$namespace" "migration-$(date +%s)-$$" "${ROLLOUT_WAIT:-10m}" "$@" <<<"$template"
