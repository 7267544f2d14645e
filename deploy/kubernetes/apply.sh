#!/usr/bin/env bash
# apply.sh FOLDER [part…]: applies an overlay in the order that a release needs: what jobs read, the jobs to their end, then the servers.
# With names of parts, only these are rolled out, one after the other. Servers are not touched before every job has succeeded.
set -euo pipefail
folder="${1:?"Usage: apply.sh FOLDER [part…]"}"
shift
# A number with h, m or s.
wait="${ROLLOUT_WAIT:-10m}"
source "$(dirname "${BASH_SOURCE[0]}")/jobs.sh"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

kubectl kustomize "$folder" >"$work/all.yaml"
namespace="$(awk '/^kind:/ { found = $2 == "Namespace" } found && /^  name:/ { print $2; exit }' "$work/all.yaml")"

apply() { kubectl apply --server-side --force-conflicts -f "$work/all.yaml" "$@"; }

# What jobs and servers need, such as accounts, settings and policies, has no component.
apply --selector 'app.kubernetes.io/component notin (service,gateway,job)'
engines="$(kubectl get statefulset --namespace "$namespace" --selector app.kubernetes.io/component=engine --output name)"
if [ -n "$engines" ]; then
  kubectl rollout status --namespace "$namespace" statefulset --selector app.kubernetes.io/component=engine --timeout "$wait"
fi

# The template of a job cannot change, and one that is done does not run again.
kubectl delete job --namespace "$namespace" --selector app.kubernetes.io/component=job,app.kubernetes.io/part-of=bubbles --ignore-not-found --wait
apply --selector app.kubernetes.io/component=job
# In a line of its own, so that a failure ends this script.
jobs="$(kubectl get job --namespace "$namespace" --selector app.kubernetes.io/component=job,app.kubernetes.io/part-of=bubbles --output name)"
for job in $jobs; do
  if ! wait_for_job "$namespace" "${job##*/}" "$wait"; then
    kubectl logs --namespace "$namespace" "$job" --tail 5 >&2 || true
    echo "$job has not succeeded: no server was changed" >&2
    exit 1
  fi
done

servers=("$@")
if [ ${#servers[@]} -eq 0 ]; then
  apply --selector 'app.kubernetes.io/component in (service,gateway)'
else
  for part in "${servers[@]}"; do
    apply --selector "app.kubernetes.io/name=$part"
    kubectl rollout status --namespace "$namespace" "deployment/$part" --timeout "$wait"
  done
fi
kubectl rollout status --namespace "$namespace" deployment --selector app.kubernetes.io/part-of=bubbles --timeout "$wait"
