#!/usr/bin/env bash
# node.sh FOLDER IMAGES: a cluster of one real node from what build.sh made in CLUSTER_CACHE: containerd with runc, kubelet, kube-proxy, kube-router for
# NetworkPolicies, CoreDNS. IMAGES is an archive of all that its pods run. It lives in mount, network and process namespaces of its own, so that nothing of it
# is left, and lasts until standard input ends. Prints "ready" when pods can run; `nsenter --target $(cat FOLDER/inside.pid) --mount --net --pid` leads inside.
# Takes root, runc, iptables, ipset and nftables.
set -euo pipefail
folder="${1:?"Usage: node.sh FOLDER IMAGES"}"
images="${2:?"Usage: node.sh FOLDER IMAGES"}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
bin="${CLUSTER_CACHE:-$HOME/.cache/bubbles-cluster}/bin"
group="bubbles-node-$(basename "$folder")"
work="$folder/node"
address=10.10.0.1
pods=10.244.0.0/24
dns=10.96.0.10

# Control groups have no namespace here: what the kubelet made is empty once its processes are gone.
outside() {
  local status=0 outer
  INSIDE=1 unshare --mount --net --pid --fork --kill-child --mount-proc bash "$0" "$folder" "$images" <&0 &
  outer=$!
  until cat "/proc/$outer/task/$outer/children" 2>/dev/null | grep --only-matching '[0-9]*' >"$folder/inside.pid"; do sleep 0.05; done
  wait "$outer" || status=$?
  for _ in $(seq 20); do
    find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} + 2>/dev/null || true
    [ -n "$(find /sys/fs/cgroup -maxdepth 2 -name "$group")" ] || break
    sleep 0.1
  done
  exit "$status"
}

launch() {
  local name="$1"
  shift
  "$@" >"$folder/$name.log" 2>&1 </dev/null &
}

eventually() {
  for _ in $(seq 240); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.25
  done
  echo "$* never succeeded" >&2
  tail -n 5 "$folder"/*.log >&2
  exit 1
}

k() { kubectl --kubeconfig "$folder/kubeconfig" "$@"; }
ctr() { "$bin/ctr" --address "$work/containerd.sock" --namespace k8s.io "$@"; }

network() {
  ip link set lo up
  # A bridge, since the kubelet takes no address of loopback. Whatever is not here goes there, and is lost.
  ip link add node0 type bridge
  ip address add "$address/24" dev node0
  ip link set node0 up
  ip route add default dev node0
  echo 1 >/proc/sys/net/ipv4/ip_forward
  mkdir -p /run/netns
  mount -t tmpfs tmpfs /run/netns
}

# What the engines keep, for the volumes of the overlay.
volumes() {
  mkdir -p "$work"/volumes/{mongodb,rabbitmq}
  chmod 777 "$work"/volumes/*
  mount --bind "$work/volumes" /mnt
}

containers() {
  mkdir -p "$work"/{cni,kubelet,logs}
  cat >"$work/cni/bridge.conflist" <<JSON
{ "cniVersion": "1.0.0", "name": "pods", "plugins": [{ "type": "bridge", "bridge": "pods0", "isGateway": true, "hairpinMode": true,
  "ipam": { "type": "host-local", "dataDir": "$work/addresses", "ranges": [[{ "subnet": "$pods" }]], "routes": [{ "dst": "0.0.0.0/0" }] } }] }
JSON
  # Without the right to raise limits, nothing may be killed later than this process would be.
  cat >"$work/containerd.toml" <<TOML
version = 3
root = "$work/containerd"
state = "$work/containerd-state"
[grpc]
  address = "$work/containerd.sock"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = 'localhost/stand-in/pause:local'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['$bin']
    conf_dir = '$work/cni'
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = 'io.containerd.runc.v2'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = '$(command -v runc)'
      SystemdCgroup = false
TOML
  PATH="$bin:$PATH" launch containerd "$bin/containerd" --config "$work/containerd.toml"
  eventually ctr version
  ctr images import --no-unpack=false "$images" >"$folder/import.log" 2>&1
}

groups() {
  local controller
  for controller in /sys/fs/cgroup/*/; do [ ! -e "$controller/cgroup.procs" ] || mkdir -p "$controller$group"; done
  for setting in cpuset.cpus cpuset.mems; do cat "/sys/fs/cgroup/cpuset/$setting" >"/sys/fs/cgroup/cpuset/$group/$setting"; done
}

kubelet() {
  cat >"$work/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /$group
enforceNodeAllocatable: []
failSwapOn: false
containerRuntimeEndpoint: unix://$work/containerd.sock
# Nobody outside of this network namespace reaches it.
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
clusterDNS: [$dns]
clusterDomain: cluster.local
resolvConf: /dev/null
podLogsDir: $work/logs
registerWithTaints: []
# The disk belongs to the machine.
evictionHard: { memory.available: 1Mi, nodefs.available: 1%, imagefs.available: 1% }
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
oomScoreAdj: 0
YAML
  launch kubelet "$bin/kubelet" --config "$work/kubelet.yaml" --kubeconfig "$folder/kubeconfig" --root-dir "$work/kubelet" --cert-dir "$work/certificates" \
    --hostname-override node --node-ip "$address" --node-labels topology.kubernetes.io/zone=one
}

services() {
  launch kube-proxy "$bin/kube-proxy" --kubeconfig "$folder/kubeconfig" --proxy-mode nftables --hostname-override node --cluster-cidr "$pods" \
    --conntrack-max-per-core 0 --conntrack-min 0 --conntrack-tcp-timeout-established 0s --conntrack-tcp-timeout-close-wait 0s
  launch kube-router "$bin/kube-router" --kubeconfig "$folder/kubeconfig" --run-firewall=true --run-router=false --run-service-proxy=false \
    --hostname-override node --service-cluster-ip-range 10.96.0.0/16
  k apply --filename "$here/coredns.yaml" >/dev/null
}

for tool in runc iptables ipset nft; do
  [ -x "$(command -v "$tool")" ] || { echo "$tool is not installed: apt-get install runc iptables ipset nftables" >&2 && exit 2; }
done
mkdir -p "$folder"
[ "${INSIDE:-}" = 1 ] || outside
start() {
  network
  volumes
  containers &
  CLUSTER_ADDRESS="$address" bash "$here/control-plane.sh" up "$folder" 0
  wait $!
  groups
  kubelet
  eventually k wait --for condition=Ready node/node --timeout 1s
  services
  eventually k rollout status deployment/coredns --namespace kube-system --timeout 1s
  echo ready
}

# The end of this process ends all others of its namespace.
start </dev/null &
starting=$!
cat >/dev/null <&0 &
wait -n "$starting" $!
[ ! -e "/proc/$starting" ] || exit 1
wait
