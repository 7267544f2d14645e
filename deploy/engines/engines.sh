#!/usr/bin/env bash
# A broker and a MongoDB-compatible engine of this checkout's own, for tests.
#   up [--yes]  starts what is not running, waits until it answers, prints AMQP_URL=… and MONGODB_URL=…; asks before it installs packages,
#               unless --yes is given, CI=true is set or nobody is at the terminal
#   build    makes the MongoDB-compatible engine, without starting it
#   down     stops both, says what is lost          status   prints what runs; fails when something does not
#   signal broker|mongo SIGNAL   sends a signal (TERM, KILL, STOP, CONT); `up` starts what has ended
#   ctl …    the broker's rabbitmqctl
# An AMQP_URL or MONGODB_URL in the environment is used as it is. ENGINES_HOME names another folder, for engines beside these; with MONGO_KEEPS=1 what
# the MongoDB-compatible engine was told survives an orderly end of it (at half the speed). RABBITMQ_BIN is the folder of another broker (rabbitmq4.sh),
# SECANTUSDB_BIN that of another store (secantusdb.sh): there also what it has acknowledged as in its journal survives a SIGKILL. MONGO_LOGINS=1 makes it ask
# for a login; who may make users in it has to be made before, without.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
own="$(cd "$here/../.." && pwd)/.engines"
state="${ENGINES_HOME:-$own}"
rabbit_bin="${RABBITMQ_BIN:-/usr/lib/rabbitmq/bin}"
mkdir -p "$state"

say() { echo "$*" >&2; }

# --- packages

has() { [ -x "$(command -v "$1")" ]; }

missing_packages() {
  [ "${AMQP_URL:-}" ] || is_running broker || has "$rabbit_bin/rabbitmq-server" || echo rabbitmq-server
  [ "${MONGODB_URL:-}" ] || is_running mongo || [ "${SECANTUSDB_BIN:-}" ] || has mongod || {
    has java && { is_built || has javac; } || echo default-jdk-headless
    is_built || has mvn || echo maven
  }
}

is_interactive() { [ "${CI:-}" != true ] && [ -t 0 ] && [ -t 2 ]; }

refuse() { say "engines: $*" && exit 2; }

install_missing() {
  local packages answer
  mapfile -t packages < <(missing_packages)
  [ ${#packages[@]} -gt 0 ] || return 0
  has apt-get || refuse "${packages[*]}: not installed, and there is no apt-get here; install them yourself, or set AMQP_URL and MONGODB_URL"
  [ "$(id -u)" = 0 ] || refuse "${packages[*]}: not installed; as root: apt-get install --no-install-recommends ${packages[*]}"
  if [ "$assume_yes" ] || ! is_interactive; then
    say "engines: installs ${packages[*]} with apt-get, without asking (--yes, CI=true, or nobody at the terminal)"
  else
    read -r -p "engines: install ${packages[*]} with apt-get? [y/N] " answer
    [[ "$answer" = [yY]* ]] || refuse "${packages[*]}: not installed, nothing was started"
  fi
  install "${packages[@]}"
}

# install <packages…>: a package's daemon is not started.
install() {
  local policy=/usr/sbin/policy-rc.d own_policy= status=0
  apt-get update -q </dev/null >&2 || refuse "apt-get update ended with $?, see above"
  [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" && own_policy=1; }
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0 "$@" </dev/null >&2 || status=$?
  [ -z "$own_policy" ] || rm "$policy"
  [ $status = 0 ] || refuse "apt-get install ended with $status, see above"
}

# --- ports and processes

is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# birth <pid>: when the process began and in which run of the machine; nothing where the system does not tell.
birth() {
  local stat boot fields
  { stat="$(<"/proc/$1/stat")" && boot="$(</proc/sys/kernel/random/boot_id)"; } 2>/dev/null || return 0
  # After the name of the command, which may hold blanks and brackets, the state comes first and the start is the twentieth.
  read -ra fields <<<"${stat##*) }"
  echo "${fields[19]}/$boot"
}

# A pid file holds the pid of a process and its birth.
pid_of() {
  local pid= born=
  { read -r pid born <"$state/$1.pid"; } 2>/dev/null && echo "$pid"
}

# Whether another process may have the pid by now: there is one that began at another time, or the machine was restarted since.
is_recycled() {
  local pid= born= now
  { read -r pid born <"$state/$1.pid"; } 2>/dev/null || return 1
  [ "$born" ] || return 1
  now="$(birth "$pid")"
  [ "${born#*/}" != "$(</proc/sys/kernel/random/boot_id)" ] || { [ "$now" ] && [ "$now" != "$born" ]; }
}

# Not what has ended and was never waited for.
is_running() {
  local pid
  pid="$(pid_of "$1")" && ! is_recycled "$1" && kill -0 "$pid" 2>/dev/null && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status"
}

is_taken() { is_open $(($1 + 17)) || is_open $(($1 + 69)) || is_open $(($1 + 72)) || is_open $(($1 + 73)); }

# Whether the ports of last time are somebody else's now: somebody listens and nothing of ours runs. An epmd may be left of a broker that was killed.
are_lost() {
  local base
  base="$(cat "$state/ports")"
  ! is_running broker && ! is_running mongo && { is_open $((base + 17)) || is_open $((base + 72)); }
}

# Four ports below the ephemeral ones, kept in the state folder; another checkout takes the next hundred. Nobody else chooses before this command ends:
# until then what it starts may not listen yet.
choose_ports() {
  if [ ! -f "$state/ports" ] || are_lost; then
    exec 8>"${TMPDIR:-/tmp}/engines-$UID.lock"
    flock 8
    local base=29600
    while is_taken $base; do base=$((base + 100)); done
    echo "$base" >"$state/ports"
  fi
  base="$(cat "$state/ports")"
  mongo_port=$((base + 17)) epmd_port=$((base + 69)) amqp_port=$((base + 72)) dist_port=$((base + 73))
}

# launch <name> <command…>: in the background, leading a process group of its own, with a log and a pid file that is whole from the start.
launch() {
  echo "=== $(date +%T) starting" >>"$state/$1.log"
  setsid "${@:2}" </dev/null >>"$state/$1.log" 2>&1 8>&- 9>&- &
  echo "$! $(birth $!)" >"$state/$1.pid.new"
  mv "$state/$1.pid.new" "$state/$1.pid"
}

# await <name> <check…>: until the check passes; fails when the process ends or two minutes have passed.
await() {
  local name="$1" deadline=$((SECONDS + 120)) why=
  until "${@:2}"; do
    is_running "$name" || why='has ended'
    [ $SECONDS -lt $deadline ] || why='does not answer after two minutes'
    if [ "$why" ]; then
      say "$(date +%T) $name did not start, it $why:" && tail -n 20 "$state/$name.log" >&2
      return 1
    fi
    sleep 0.1
  done
}

# send <name> <signal>: to its whole group; fails when the pid is another process's now.
send() {
  ! is_recycled "$1" || { say "engines: $1 does not run, another process may have its pid" && return 1; }
  kill "-$2" -- "-$(pid_of "$1")"
}

stop() {
  if is_running "$1"; then
    local deadline=$((SECONDS + 15))
    send "$1" CONT && send "$1" TERM
    while is_running "$1" && [ $SECONDS -lt $deadline ]; do sleep 0.1; done
    send "$1" KILL 2>/dev/null || true
  fi
  rm -f "$state/$1.pid"
}

# --- the broker

broker_environment() {
  local folder="$state/rabbitmq"
  mkdir -p "$folder"
  export HOME="$folder" RABBITMQ_NODENAME="bubbles$amqp_port@localhost" RABBITMQ_DIST_PORT="$dist_port"
  export ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$epmd_port"
  export RABBITMQ_MNESIA_BASE="$folder/data" RABBITMQ_LOG_BASE="$folder/log" RABBITMQ_PID_FILE="$folder/node.pid"
  export ERL_CRASH_DUMP="$folder/erl_crash.dump" RABBITMQ_CONFIG_FILE="$folder/rabbitmq.conf" RABBITMQ_CONF_ENV_FILE="$folder/none" RABBITMQ_ENABLED_PLUGINS_FILE="$folder/plugins"
  [ -f "$folder/.erlang.cookie" ] || { echo "COOKIE$RANDOM$RANDOM" >"$folder/.erlang.cookie" && chmod 400 "$folder/.erlang.cookie"; }
  echo '[].' >"$folder/plugins"
  printf '%s\n' "listeners.tcp.1 = 127.0.0.1:$amqp_port" 'disk_free_limit.absolute = 50MB' 'log.file.level = warning' >"$folder/rabbitmq.conf"
}

# The broker answers a greeting in a protocol version of its own with the one it speaks.
broker_answers() {
  (exec 3<>"/dev/tcp/127.0.0.1/$amqp_port" && printf 'AMQP\x00\x00\x09\x00' >&3 && IFS= read -r -t 2 -n 4 -u 3 reply && [ "$reply" = AMQP ]) 2>/dev/null
}

broker_start() {
  if ! is_running broker; then
    say 'engines: starting the broker'
    (broker_environment && launch broker "$rabbit_bin/rabbitmq-server")
  fi
  await broker broker_answers
}

# A node that was killed may hold its name for a moment, and the next one ends over that: then once more.
broker_up() {
  broker_start || { stop broker && broker_start; }
}

broker_down() {
  stop broker
  command -v epmd >/dev/null || return 0
  ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$epmd_port" epmd -kill >/dev/null 2>&1 || true
}

# --- the MongoDB-compatible engine

# Once for all engines of this checkout.
is_built() {
  local class="$own/mongo/MongoEngine.class"
  [ "$class" -nt "$here/mongo/MongoEngine.java" ] && [ "$class" -nt "$here/mongo/pom.xml" ]
}

build_mongo() {
  is_built && return
  say 'engines: building the MongoDB-compatible engine'
  mvn -q -B -f "$here/mongo/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$own/mongo/lib" >&2
  javac -cp "$own/mongo/lib/*" -d "$own/mongo" "$here/mongo/MongoEngine.java" >&2
}

mongo_up() {
  if ! is_running mongo; then
    if [ "${SECANTUSDB_BIN:-}" ]; then
      say 'engines: starting SecantusDB'
      echo secantusdb >"$state/mongo.storage"
      launch mongo "$SECANTUSDB_BIN/secantusd-py" --port "$mongo_port" --storage-path "$state/secantusdb" --log-level WARNING ${MONGO_LOGINS:+--auth}
    elif has mongod; then
      say 'engines: starting mongod'
      echo file >"$state/mongo.storage"
      mkdir -p "$state/mongo/data"
      launch mongo mongod --quiet --bind_ip 127.0.0.1 --port "$mongo_port" --dbpath "$state/mongo/data"
    else
      build_mongo
      local storage=memory
      [ -z "${MONGO_KEEPS:-}" ] || storage=file
      echo $storage >"$state/mongo.storage"
      say "engines: starting the MongoDB-compatible engine; its data is in $([ $storage = file ] && echo "$state/mongo.h2" || echo 'memory, and lost when it ends')"
      # One thread reads, changes and answers: with more of them this engine shows documents that are half changed.
      launch mongo java -Xmx512m -Dio.netty.eventLoopThreads=1 -cp "$own/mongo:$own/mongo/lib/*" MongoEngine "$mongo_port" ${MONGO_KEEPS:+"$state/mongo.h2"}
    fi
  fi
  await mongo is_open "$mongo_port"
}

# SecantusDB answers as the only member of a replica set.
mongo_options() {
  if [ "$(cat "$state/mongo.storage")" = secantusdb ]; then echo replicaSet=secantus; else echo directConnection=true; fi
}

# --- commands

up() {
  install_missing
  [ "${AMQP_URL:-}" ] || broker_up
  [ "${MONGODB_URL:-}" ] || mongo_up
  echo "AMQP_URL=${AMQP_URL:-amqp://127.0.0.1:$amqp_port}"
  echo "MONGODB_URL=${MONGODB_URL:-mongodb://127.0.0.1:$mongo_port/?$(mongo_options)}"
}

down() {
  local was=
  ! is_running mongo || was="$(cat "$state/mongo.storage" 2>/dev/null || true)"
  stop mongo && broker_down
  [ "$was" != memory ] || echo 'What the store held is lost: the MongoDB-compatible engine kept it in memory. The queues are kept.'
}

status() {
  local missing=0 name
  for name in broker mongo; do
    if is_running "$name"; then echo "$name runs as $(pid_of "$name")"; else echo "$name does not run" && missing=1; fi
  done
  return $missing
}

assume_yes=
[ "${2:-}" != --yes ] || assume_yes=1
choose_ports
case "${1:-}" in
  up)
    exec 9>"$state/lock"
    flock 9
    up
    ;;
  build)
    exec 9>"$state/lock"
    flock 9
    install_missing
    build_mongo
    ;;
  down) down ;;
  status) status ;;
  signal)
    send "${2:?broker or mongo}" "${3:?a signal}"
    while [[ "$3" = KILL || "$3" = TERM ]] && is_running "$2"; do sleep 0.05; done
    ;;
  ctl) broker_environment && exec "$rabbit_bin/rabbitmqctl" "${@:2}" ;;
  *) say 'usage: engines.sh up [--yes] | build | down | status | signal broker|mongo SIGNAL | ctl …' && exit 2 ;;
esac
