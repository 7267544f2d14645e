#!/usr/bin/env bash
# The tests of the bus, of its queues and of the rights of its users, or those of them that are named, on RabbitMQ 4: a broker of their own, which ends with them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

home="$(mktemp -d)"
RABBITMQ_BIN="$(bash deploy/engines/rabbitmq4.sh)"
export ENGINES_HOME="$home" RABBITMQ_BIN RABBITMQ_CONTROL="$PWD/deploy/engines/engines.sh"
# So that no store is started beside it.
export MONGODB_URL=none
engines() { AMQP_URL='' bash deploy/engines/engines.sh "$@"; }
end() {
  engines down || true
  rm -rf "$home"
}
trap end EXIT

AMQP_URL="$(engines up | sed -n 's/^AMQP_URL=//p')"
export AMQP_URL
version="$(engines ctl --quiet version)"
[[ "$version" = 4.* ]] || { echo "second-broker: RabbitMQ $version is not RabbitMQ 4" >&2 && exit 1; }
echo "RabbitMQ $version"
[ $# -gt 0 ] || set -- shared/bus deploy/topology deploy/keys/src/broker-rights
npm run jest -- -i "$@"
