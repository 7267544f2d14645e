#!/usr/bin/env bash
# command.sh NAMESPACE WORDS…: runs an operators' command in the cluster and shows what it says: command.sh bubbles accounts create --email ada@example.com
set -euo pipefail
namespace="${1:?"Usage: command.sh NAMESPACE WORDS…"}"
shift
[ $# -gt 0 ] || { echo "Usage: command.sh NAMESPACE WORDS…" >&2; exit 2; }
source "$(dirname "${BASH_SOURCE[0]}")/jobs.sh"
job="admin-$(date +%s)-$$"

# The words are arguments of the container that the template describes; kubectl takes none with --from.
words="$(printf '%s\0' "$@" | base64 --wrap 0)"
kubectl create job "$job" --namespace "$namespace" --from cronjob/admin --dry-run=client --output json |
  WORDS="$words" node -e '
    const job = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    const [container] = job.spec.template.spec.containers;
    container.args = Buffer.from(process.env.WORDS, "base64").toString().split("\0").slice(0, -1);
    process.stdout.write(JSON.stringify(job));
  ' | kubectl create --filename - >&2

has_begun() { [[ "$(kubectl get pod --namespace "$namespace" --selector "job-name=$job" --output jsonpath='{.items[*].status.phase}')" =~ Running|Succeeded|Failed ]]; }
for _ in $(seq "${START_SECONDS:-120}"); do
  has_begun && break
  sleep 1
done
has_begun || { echo "the pod of job/$job has not begun: kubectl describe pod --namespace $namespace --selector job-name=$job" >&2 && exit 1; }

kubectl logs --namespace "$namespace" --follow "job/$job"
# Whoever has said all has ended, or is about to.
wait_for_job "$namespace" "$job" 60s && exit 0
[ $? -eq 1 ] || echo "job/$job has not ended" >&2
exit 1
