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
