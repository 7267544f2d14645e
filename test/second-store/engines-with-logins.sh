#!/usr/bin/env bash
# engines-with-logins.sh FOLDER: starts engines that ask for logins, SecantusDB and RabbitMQ, with the secrets of a deployment in FOLDER as the job `keys` writes
# them, and the users of deploy/mongodb and deploy/rabbitmq. Run again, it makes the users again. ENGINES_HOME names the folder of the engines, AMQP_URL=none
# leaves out the broker. Prints what engines.sh prints. Takes python3 with venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export KEYS_FOLDER="$1" MONGODB_URL=
SECANTUSDB_BIN="${SECANTUSDB_BIN:-$(bash deploy/engines/secantusdb.sh)}"
export SECANTUSDB_BIN
engines() { bash deploy/engines/engines.sh "$@"; }
launch() { node deploy/launch.mjs "$@"; }
urlOf() { sed -n "s/^$1=//p" <<<"$urls"; }
# The secrets of the store and its address are what its scripts ask for.
mongosh() {
  local store
  store="$(urlOf MONGODB_URL)" && store="${store#mongodb://}"
  KEYS_FOLDER="$KEYS_FOLDER/mongodb" STORE="${store%%/*}" launch test/second-store/mongosh.ts >&2
}

urls="$(engines up)"
broker="$(urlOf AMQP_URL)"
env BROKER_ADDRESS="${broker/#none/amqp://broker}" STORE_ADDRESS="$(urlOf MONGODB_URL)" MAIL_ADDRESS=smtp://mail \
  node deploy/launch.mjs deploy/keys/src/main.ts >&2

# Who makes users is made while the store asks nobody yet.
if [ ! -e "$KEYS_FOLDER/asks" ]; then
  mongosh <<'ROOT'
    const { KEYS_FOLDER, STORE } = process.env;
    const pwd = require('node:fs').readFileSync(`${KEYS_FOLDER}/root-password`, 'utf8');
    connect(`mongodb://${STORE}/admin?directConnection=true`).adminCommand({ createUser: 'root', pwd, roles: [{ role: 'root', db: 'admin' }] });
ROOT
  engines signal mongo TERM
  MONGO_LOGINS=1 engines up >/dev/null
  touch "$KEYS_FOLDER/asks"
fi
mongosh <deploy/mongodb/users.js
[ "$broker" = none ] || engines ctl --quiet import_definitions "$KEYS_FOLDER/rabbitmq/definitions.json" >&2
echo "$urls"
