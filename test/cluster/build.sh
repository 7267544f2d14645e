#!/usr/bin/env bash
# build.sh: builds a control plane of Kubernetes from the module proxy of Go, into CLUSTER_CACHE/bin. What is there already stays.
# The caches of Go keep what was compiled: the first time takes about 13 minutes of one core, every later one takes seconds.
set -euo pipefail
folder="${CLUSTER_CACHE:-$HOME/.cache/bubbles-cluster}"
PATH="$PATH:/usr/local/go/bin"
kubernetes=v1.37.2
etcd=v3.7.3
kwok=v0.8.0
export GOFLAGS=-buildvcs=false CGO_ENABLED=0 GOWORK=off
bin="$folder/bin"
mkdir -p "$bin" "$folder"/{kubernetes,etcd}

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
  cd "$folder/kubernetes"
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
  for name in kube-apiserver kube-controller-manager kube-scheduler; do has "$name" "$kubernetes" || missing+=("$name"); done
  [ ${#missing[@]} -eq 0 ] && return
  kubernetes_module
  for name in "${missing[@]}"; do
    build "$name" "$kubernetes" "k8s.io/kubernetes/cmd/$name" \
      -ldflags "-s -w -X $numbers.gitVersion=$kubernetes -X $numbers.gitMajor=1 -X $numbers.gitMinor=$(cut -d. -f2 <<<"$kubernetes") -X $numbers.gitTreeState=archive"
  done
}

# from_module NAME VERSION MODULE: builds main.go of the current folder, which imports MODULE.
from_module() {
  local name="$1" version="$2" module="$3"
  [ -f go.mod ] || go mod init "$name.example" >/dev/null 2>&1
  go get "$module@$version" >/dev/null
  go mod tidy >/dev/null
  build "$name" "$version" . -ldflags '-s -w'
}

etcd_program() {
  has etcd "$etcd" && return
  cd "$folder/etcd"
  cat >main.go <<'GO'
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
GO
  from_module etcd "$etcd" go.etcd.io/etcd/server/v3
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
