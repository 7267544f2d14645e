#!/usr/bin/env bash
# stand-ins.sh BASE: makes images in place of those that cannot be pulled: RabbitMQ 4 and the MongoDB-compatible engine of the tests, a mail catcher, and what
# the cluster itself runs in pods (build.sh). What is there already stays. As root; wants buildah.
set -Eeuo pipefail
base="${1:?"Usage: stand-ins.sh BASE"}"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
bin="${CLUSTER_CACHE:-$HOME/.cache/bubbles-cluster}/bin"

# image NAME FROM [flags of its settings…]: of the files that the lines of standard input name, each "SOURCE TARGET".
image() {
  local name="localhost/stand-in/$1:local" from="$2" container source target
  shift 2
  [ -z "$(buildah images --quiet "$name" 2>/dev/null)" ] || return 0
  container="$(buildah from "$from")"
  trap 'buildah rm "$container" >/dev/null' ERR
  while read -r source target; do buildah add --quiet "$container" "$source" "$target" >/dev/null; done
  buildah config "$@" "$container"
  buildah commit --quiet --rm "$container" "$name" >/dev/null
}

image pause scratch --entrypoint '["/pause"]' <<<"$bin/pause /pause"
image coredns scratch --entrypoint '["/coredns"]' <<<"$bin/coredns /coredns"

bash "$root/deploy/engines/rabbitmq4.sh" >/dev/null
image rabbitmq scratch --entrypoint '["/usr/lib/rabbitmq/bin/rabbitmq-server"]' --env HOME=/var/lib/rabbitmq --env RABBITMQ_LOGS=- --env LC_ALL=C.UTF-8 \
  --env PATH=/usr/lib/rabbitmq/bin:/usr/bin:/bin <<<"${RABBITMQ4_HOME:-$HOME/.cache/bubbles-rabbitmq4}/root /"

bash "$root/deploy/engines/engines.sh" build
image mongodb "$base" --cmd '' --entrypoint \
  '["/usr/lib/jvm/java-17-openjdk-amd64/bin/java","-Xmx256m","-Dhost=0.0.0.0","-Dio.netty.eventLoopThreads=1","-cp","/engine:/engine/lib/*","MongoEngine","27017"]' <<FILES
/usr/lib/jvm /usr/lib/jvm
/etc/java-17-openjdk /etc/java-17-openjdk
$root/.engines/mongo /engine
FILES

image mailpit "$base" --cmd '' --entrypoint '["node","/app/mail-catcher.mjs"]' <<FILES
$root/test/images/mail-catcher.mjs /app/mail-catcher.mjs
$root/node_modules/smtp-server /app/node_modules/smtp-server
$root/node_modules/punycode.js /app/node_modules/punycode.js
FILES
