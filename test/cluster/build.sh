#!/usr/bin/env bash
# build.sh: builds a control plane and a node of Kubernetes from the module proxy of Go, into CLUSTER_CACHE/bin. What is there already stays.
# The caches of Go keep what was compiled: the first time takes about 20 minutes of one core, every later one takes seconds.
set -euo pipefail
folder="${CLUSTER_CACHE:-$HOME/.cache/bubbles-cluster}"
PATH="$PATH:/usr/local/go/bin"
kubernetes=v1.37.2
etcd=v3.7.3
kwok=v0.8.0
containerd=v2.1.9
cni=v1.9.1
kube_router=v2.1.0
coredns=v1.15.0
export GOFLAGS=-buildvcs=false CGO_ENABLED=0 GOWORK=off
bin="$folder/bin"
mkdir -p "$bin"

# build NAME VERSION PACKAGE [flags…]: one program, in the module of the current folder.
build() {
  local name="$1" version="$2" package="$3" started=$SECONDS
  shift 3
  go build -mod=mod -trimpath "$@" -o "$bin/$name.part" "$package"
  mv "$bin/$name.part" "$bin/$name"
  echo "$version" >"$bin/$name.version"
  echo "$name $version: built in $((SECONDS - started)) s" >&2
}

has() { [ -x "$bin/$1" ] && [ "$(cat "$bin/$1.version" 2>/dev/null)" = "$2" ]; }

# Kubernetes names its own libraries by folders of its source; as a module it needs the published versions of them.
kubernetes_module() {
  local published="v0.${kubernetes#v1.}" source
  mkdir -p "$folder/kubernetes" && cd "$folder/kubernetes"
  source="$(go mod download -json "k8s.io/kubernetes@$kubernetes" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')"
  sed -E -e 's#^module .*#module kubernetes.example#' \
    -e "s#^(\s+k8s\.io/[a-z-]+) v0\.0\.0( |\$)#\1 $published\2#" \
    -e "s#^(\s+k8s\.io/[a-z-]+ =>) \./staging/src/(k8s\.io/[a-z-]+)#\1 \2 $published#" "$source/go.mod" >go.mod
  printf '\nrequire k8s.io/kubernetes %s\n' "$kubernetes" >>go.mod
  cp "$source/go.sum" go.sum
  chmod u+w go.sum
}

kubernetes_programs() {
  local name missing=() numbers=k8s.io/component-base/version
  for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy; do has "$name" "$kubernetes" || missing+=("$name"); done
  [ ${#missing[@]} -eq 0 ] && return
  kubernetes_module
  for name in "${missing[@]}"; do
    build "$name" "$kubernetes" "k8s.io/kubernetes/cmd/$name" \
      -ldflags "-s -w -X $numbers.gitVersion=$kubernetes -X $numbers.gitMajor=1 -X $numbers.gitMinor=$(cut -d. -f2 <<<"$kubernetes") -X $numbers.gitTreeState=archive"
  done
}

# from_module MODULE VERSION PACKAGE…: builds programs of a published module, each under the last name of its package.
from_module() {
  local module="$1" version="$2" package missing=()
  shift 2
  for package in "$@"; do has "${package##*/}" "$version" || missing+=("$package"); done
  [ ${#missing[@]} -eq 0 ] && return
  enter_module "${missing[0]##*/}" "$module" "$version"
  for package in "${missing[@]}"; do build "${package##*/}" "$version" "$package" -ldflags '-s -w'; done
}

# from_main NAME VERSION MODULE: builds the program that standard input holds, of packages of MODULE.
from_main() {
  local name="$1" version="$2" module="$3"
  has "$name" "$version" && return
  enter_module "$name" "$module" "$version"
  cat >main.go
  go mod tidy >/dev/null 2>&1
  build "$name" "$version" . -ldflags '-s -w'
}

# enter_module FOLDER MODULE VERSION: makes the folder a module that needs that one, and goes there.
enter_module() {
  rm -rf "${folder:?}/$1" && mkdir -p "$folder/$1" && cd "$folder/$1"
  go mod init "$1.example" >/dev/null 2>&1
  go get "$2@$3" >/dev/null 2>&1
}

etcd_program() {
  from_main etcd "$etcd" go.etcd.io/etcd/server/v3 <<'GO'
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
GO
}

# With what a usual Corefile names: the program with everything takes the libraries of three clouds.
coredns_program() {
  from_main coredns "$coredns" github.com/coredns/coredns <<'GO'
package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/ready"
)

func main() { coremain.Run() }
GO
}

# What holds the namespaces of a pod.
pause_program() {
  has pause 1 && return
  mkdir -p "$folder/pause" && cd "$folder/pause"
  cat >main.go <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
GO
  [ -f go.mod ] || go mod init pause.example >/dev/null 2>&1
  build pause 1 . -ldflags '-s -w'
}

# What plays the part of the kubelets.
kwok_program() {
  has kwok "$kwok" && return
  GOBIN="$bin" go install "sigs.k8s.io/kwok/cmd/kwok@$kwok"
  echo "$kwok" >"$bin/kwok.version"
}

etcd_program
kubernetes_programs
kwok_program
pause_program
from_module github.com/containerd/containerd/v2 "$containerd" github.com/containerd/containerd/v2/cmd/{containerd,containerd-shim-runc-v2,ctr}
from_module github.com/containernetworking/plugins "$cni" github.com/containernetworking/plugins/plugins/{main/bridge,main/loopback,ipam/host-local}
from_module github.com/cloudnativelabs/kube-router/v2 "$kube_router" github.com/cloudnativelabs/kube-router/v2/cmd/kube-router
coredns_program
