# Functions for jobs in a cluster; other scripts read this file.

# seconds 10m: the number of seconds of such a time.
seconds() {
  case "$1" in
    *h) echo $((${1%h} * 3600)) ;;
    *m) echo $((${1%m} * 60)) ;;
    *) echo $((${1%s})) ;;
  esac
}

# wait_for_job NAMESPACE NAME TIME: 0 when the job has succeeded, 1 as soon as it has failed, 2 when it has not ended in that time.
wait_for_job() {
  local until=$((SECONDS + $(seconds "$3"))) ended
  while :; do
    # An answer that fails to come says nothing of the job.
    ended="$(kubectl get --namespace "$1" "job/$2" --output jsonpath='{.status.conditions[?(@.status=="True")].type}')" || ended=""
    [[ "$ended" =~ Complete ]] && return 0
    [[ "$ended" =~ Failed ]] && return 1
    [ "$SECONDS" -lt "$until" ] || return 2
    sleep 1
  done
}

# run_job NAMESPACE NAME TIME WORDS…: makes a job of the description on its standard input, with this name and these words for its container, shows
# what it says, and ends as it does.
run_job() {
  local namespace="$1" job="$2" time="$3" words
  # The words are arguments of the container that the template describes; kubectl takes none with --from.
  words="$(printf '%s\0' "${@:4}" | base64 --wrap 0)"
  NAME="$job" WORDS="$words" node -e '
    const job = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    const [container] = job.spec.template.spec.containers;
    job.metadata.name = process.env.NAME;
    // What failed is not repeated: the operator decides.
    job.spec.backoffLimit = 0;
    container.args = Buffer.from(process.env.WORDS, "base64").toString().split("\0").slice(0, -1);
    process.stdout.write(JSON.stringify(job));
  ' | kubectl create --namespace "$namespace" --filename - >&2

  for _ in $(seq "${START_SECONDS:-120}"); do
    has_begun "$namespace" "$job" && break
    sleep 1
  done
  if ! has_begun "$namespace" "$job"; then
    echo "the pod of job/$job has not begun: kubectl describe pod --namespace $namespace --selector job-name=$job" >&2
    return 1
  fi

  # Its end decides, also when the log breaks off.
  kubectl logs --namespace "$namespace" --follow "job/$job" || true
  wait_for_job "$namespace" "$job" "$time" && return
  [ $? -eq 1 ] || echo "job/$job has not ended" >&2
  return 1
}

has_begun() { [[ "$(kubectl get pod --namespace "$1" --selector "job-name=$2" --output jsonpath='{.items[*].status.phase}')" =~ Running|Succeeded|Failed ]]; }
