#!/usr/bin/env bash
# command.sh NAMESPACE WORDS…: runs an operators' command in the cluster and shows what it says: command.sh bubbles accounts create --email ada@example.com
set -euo pipefail
namespace="${1:?"Usage: command.sh NAMESPACE WORDS…"}"
shift
[ $# -gt 0 ] || { echo "Usage: command.sh NAMESPACE WORDS…" >&2; exit 2; }
source "$(dirname "${BASH_SOURCE[0]}")/jobs.sh"
job="admin-$(date +%s)-$$"

template="$(kubectl create job "$job" --namespace "$namespace" --from cronjob/admin --dry-run=client --output json)"
# As long as the command may run.
run_job "$namespace" "$job" 1h "$@" <<<"$template"
