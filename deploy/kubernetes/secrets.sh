#!/usr/bin/env bash
# secrets.sh NAMESPACE FOLDER: a Secret of each folder in FOLDER, as the keys job writes them, for a cluster without a store of secrets.
set -euo pipefail
namespace="${1:?"Usage: secrets.sh NAMESPACE FOLDER"}"
folder="${2:?"Usage: secrets.sh NAMESPACE FOLDER"}"
kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace"
for part in "$folder"/*/; do
  # From these the others were made.
  [ "$(basename "$part")" = made ] && continue
  kubectl create secret generic "$(basename "$part")" --namespace "$namespace" --from-file "$part" --dry-run=client --output yaml | kubectl apply --filename -
done
