#!/usr/bin/env bash
# RabbitMQ 4 of Debian's testing suite, beside the packages of this machine: a root file system in a folder, made once. Prints the folder to name as
# RABBITMQ_BIN, with which engines.sh, the stack and the chaos suite run that broker. Takes root and mmdebstrap.
set -euo pipefail

cache="${RABBITMQ4_HOME:-$HOME/.cache/bubbles-rabbitmq4}"
root="$cache/root"
bin="$cache/bin"

refuse() { echo "rabbitmq4: $*" >&2 && exit 1; }

# The suite's Release file may be older than it says on a mirror: the signature is still checked, the age is not.
make_root() {
  local mirror excludes=() path
  mirror="$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1 || true)"
  mirror="${mirror:-http://deb.debian.org/debian}"
  for path in '/usr/share/doc/*' '/usr/share/man/*' '/usr/share/locale/*'; do excludes+=(--dpkgopt="path-exclude=$path"); done
  rm -rf "$root.part"
  mmdebstrap --quiet --mode=root --variant=minbase "${excludes[@]}" --aptopt='Acquire::Check-Valid-Until "false"' \
    --aptopt='Acquire::Retries "3"' --include=rabbitmq-server \
    forky "$root.part" "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror forky main" ||
    refuse "RabbitMQ cannot be had from the suite forky of $mirror, see above"
  compgen -G "$root.part/usr/lib/rabbitmq/lib/rabbitmq_server-4.*" >/dev/null || refuse "the suite forky of $mirror has another RabbitMQ than 4"
  printf '127.0.0.1 localhost\n' >"$root.part/etc/hosts"
  # Started by nobody but these scripts: no settings of the package.
  rm -f "$root.part/etc/rabbitmq/rabbitmq-env.conf"
  mv "$root.part" "$root"
}

# wrap <program>: runs it inside the root file system, with /tmp and the folder of the broker's state at their places. The process stays the same one.
wrap() {
  cat >"$bin/$1" <<WRAPPER
#!/usr/bin/env bash
exec unshare --mount bash -c '
  mount --bind /tmp "\$0/tmp"
  mkdir -p "\$0\$HOME"
  mount --bind "\$HOME" "\$0\$HOME"
  mount --bind /proc "\$0/proc"
  mount --bind /dev "\$0/dev"
  export LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
  exec chroot "\$0" /usr/lib/rabbitmq/bin/$1 "\$@"
' "$root" "\$@"
WRAPPER
  chmod +x "$bin/$1"
}

mkdir -p "$bin"
exec 9>"$cache/lock"
flock 9
[ -d "$root" ] || make_root >&2
for program in rabbitmq-server rabbitmqctl; do wrap "$program"; done
echo "$bin"
