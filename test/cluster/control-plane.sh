#!/usr/bin/env bash
# control-plane.sh up FOLDER [nodes] | down FOLDER: the control plane of a cluster on this machine's loopback, from what build.sh made in CLUSTER_CACHE.
# Nodes are pretended ones, each a zone of its own: kwok says of their pods that they run. FOLDER/kubeconfig leads to it.
# CLUSTER_ADDRESS is where the pods of a real node find the API server (node.sh).
set -euo pipefail
verb="${1:-}"
folder="${2:?"Usage: control-plane.sh up FOLDER [nodes] | down FOLDER"}"
nodes="${3:-3}"
bin="${CLUSTER_CACHE:-$HOME/.cache/bubbles-cluster}/bin"
# The first of five, below those that outgoing connections take.
port="${CLUSTER_PORT:-22440}"
services=10.96.0.0/16
address="${CLUSTER_ADDRESS:-127.0.0.1}"

launch() {
  local name="$1"
  shift
  setsid "$@" >"$folder/$name.log" 2>&1 </dev/null &
  echo $! >"$folder/$name.pid"
}

eventually() {
  for _ in $(seq 240); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.5
  done
  echo "$* never succeeded" >&2
  tail -n 5 "$folder"/*.log >&2
  exit 1
}

k() { kubectl --kubeconfig "$folder/kubeconfig" "$@"; }

api_server() {
  local token endpoint=()
  # A pod does not reach the loopback of its node.
  [ "$address" != 127.0.0.1 ] || endpoint=(--endpoint-reconciler-type none)
  token="$(openssl rand -hex 16)"
  openssl genrsa -out "$folder/accounts.key" 2048 2>/dev/null
  echo "$token,admin,admin,system:masters" >"$folder/tokens.csv"
  launch etcd "$bin/etcd" --data-dir "$folder/etcd" --unsafe-no-fsync --log-level error --listen-client-urls "http://127.0.0.1:$((port + 3))" \
    --advertise-client-urls "http://127.0.0.1:$((port + 3))" --listen-peer-urls "http://127.0.0.1:$((port + 4))"
  launch api-server "$bin/kube-apiserver" --etcd-servers "http://127.0.0.1:$((port + 3))" --bind-address "$address" --advertise-address "$address" \
    --secure-port "$port" --cert-dir "$folder/certificates" --service-cluster-ip-range "$services" "${endpoint[@]}" \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$folder/accounts.key" \
    --service-account-signing-key-file "$folder/accounts.key" --token-auth-file "$folder/tokens.csv" --authorization-mode Node,RBAC \
    --enable-admission-plugins NodeRestriction --kubelet-preferred-address-types InternalIP
  cat >"$folder/kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: test
contexts: [{ name: test, context: { cluster: test, user: admin } }]
clusters: [{ name: test, cluster: { server: "https://$address:$port", insecure-skip-tls-verify: true } }]
users: [{ name: admin, user: { token: "$token" } }]
YAML
  eventually k get --raw /readyz
}

controllers() {
  local login=(--kubeconfig "$folder/kubeconfig" --authentication-kubeconfig "$folder/kubeconfig" --authorization-kubeconfig "$folder/kubeconfig")
  launch controllers "$bin/kube-controller-manager" "${login[@]}" --bind-address 127.0.0.1 --secure-port $((port + 1)) --leader-elect=false \
    --service-account-private-key-file "$folder/accounts.key" --root-ca-file "$folder/certificates/apiserver.crt" --use-service-account-credentials=false
  launch scheduler "$bin/kube-scheduler" "${login[@]}" --bind-address 127.0.0.1 --secure-port $((port + 2)) --leader-elect=false
  eventually k get serviceaccount default --namespace default
}

pretended_nodes() {
  local number size='{"cpu":"8","memory":"16Gi","pods":"110","ephemeral-storage":"100Gi"}' stages stage
  for number in $(seq "$nodes"); do
    cat <<JSON
{ "apiVersion": "v1", "kind": "Node", "status": { "capacity": $size, "allocatable": $size },
  "metadata": { "name": "node-$number", "annotations": { "kwok.x-k8s.io/node": "fake" },
    "labels": { "kubernetes.io/hostname": "node-$number", "topology.kubernetes.io/zone": "zone-$number", "kubernetes.io/os": "linux" } } }
JSON
  done | k apply --filename - >/dev/null
  stages="$(PATH="$PATH:/usr/local/go/bin" go mod download -json "sigs.k8s.io/kwok@$(cat "$bin/kwok.version")" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/kustomize/stage"
  for stage in node/fast/node-initialize pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
    cat "$stages/$stage.yaml"
    printf '\n---\n'
  done >"$folder/stages.yaml"
  launch kwok "$bin/kwok" --config "$folder/stages.yaml" --kubeconfig "$folder/kubeconfig" --manage-all-nodes=true --node-lease-duration-seconds=40
  eventually k wait --for condition=Ready nodes --all --timeout 1s
}

down() {
  local name pid
  for name in kwok scheduler controllers api-server etcd; do
    pid="$(cat "$folder/$name.pid" 2>/dev/null)" || continue
    kill -TERM "$pid" 2>/dev/null || continue
    for _ in $(seq 40); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.25
    done
    kill -KILL "$pid" 2>/dev/null || true
  done
  rm -rf "$folder"
}

case "$verb" in
  up)
    mkdir -p "$folder"
    api_server
    controllers
    [ "$nodes" = 0 ] || pretended_nodes
    ;;
  api)
    mkdir -p "$folder"
    api_server
    ;;
  down) down ;;
  *)
    sed -n 2,3p "$0" >&2
    exit 2
    ;;
esac
