#!/usr/bin/env bash
# The two commands of the README as a newcomer's machine runs them: with the npm that each Node ships, with and without root.
# Takes the Node versions from the registry; the last line counts: "Tests: N failed, N passed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source="$PWD"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
passed=0
failed=0

case "$(uname -m)" in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) echo "there is no Node for $(uname -m) in the registry" >&2; exit 2 ;; esac

unpack() { mkdir -p "$2" && npm pack --silent "$1" --pack-destination "$2" >/dev/null && tar xzf "$2"/*.tgz -C "$2"; }

# use <node> <npm>: puts both in front of PATH.
use() {
  local bin="$work/bin-$1-$2"
  unpack "node-linux-$arch@$1" "$work/node-$1"
  unpack "npm@$2" "$work/npm-$2"
  mkdir -p "$bin"
  ln -sf "$work/node-$1/package/bin/node" "$bin/node"
  printf '#!/bin/sh\nexec node %s/package/bin/npm-cli.js "$@"\n' "$work/npm-$2" >"$bin/npm"
  chmod +x "$bin/npm"
  echo "$bin"
}

says_nothing_but_the_count() { [ -z "$(grep -vE '^$|^npm notice|^(added|changed) [0-9]+ packages' "$1")" ] || { cat "$1"; return 1; }; }

# The sandbox answers the command that it prints, and ends in order when npm is told to end.
starts() {
  local child try
  PORT=0 npm start >started 2>&1 &
  child=$!
  until grep -q '^ *Try it ' started; do
    kill -0 "$child" 2>/dev/null || { cat started; return 1; }
    sleep 0.25
  done
  try="$(sed -n 's/^ *Try it *//p' started)"
  # All of the answer is read: curl fails when nobody takes the rest of it.
  sh -c "${try/curl -s/curl -fsS}" >answered && grep -q '"data"' answered || { cat started; return 1; }
  if grep -iE 'warn|deprecat|tracing' started; then return 1; fi
  kill -TERM "$child"
  wait "$child"
}

# newcomer <install options>: in the current folder, with the current PATH.
newcomer() {
  npm ci --no-audit --no-fund "$@" >installed 2>&1 || { cat installed; return 1; }
  says_nothing_but_the_count installed
  starts
  case "$*" in *--omit=dev*) return ;; esac
  npm run --silent jest -- contracts shared/kernel/src/run-process.test.ts services/identity-and-oauth/src/domain
}

# check <user> <node> <npm> <install options>
check() {
  local user="$1" node="$2" npm="$3" bin folder as=()
  bin="$(use "$node" "$npm")"
  folder="$work/clone-$user-$node"
  git clone -q "$source" "$folder"
  if [ "$user" != root ]; then chown -R "$user" "$folder" && as=(setpriv --reuid "$user" --clear-groups); fi
  echo "--- Node $node, npm $npm, $user ${*:4}"
  if "${as[@]}" env HOME="$folder" PATH="$bin:$PATH" bash -euo pipefail -c "cd '$folder'; $(declare -f says_nothing_but_the_count starts newcomer); newcomer ${*:4}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)) && echo "FAILED"
  fi
  rm -rf "$folder"
}

check root 20.20.2 10.8.2
check nobody 22.23.5 10.9.9
check root 24.22.3 11.0.0 --omit=dev
check root 26.12.1 10.9.9 --omit=dev --omit=optional
echo "Tests: $failed failed, $passed passed"
[ "$failed" -eq 0 ]
