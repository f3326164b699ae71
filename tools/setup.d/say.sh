# shellcheck shell=bash disable=SC2034,SC2154
# Output of tools/setup: short lines, colour and a moving last line on a terminal only.
# The output of other programs goes to $log and is shown only when one of them fails.

if [[ -t 1 && ${TERM:-dumb} != dumb && -z ${NO_COLOR:-} ]]; then
  on_terminal=1 bold=$'\e[1m' red=$'\e[31m' yellow=$'\e[33m' green=$'\e[32m' plain=$'\e[0m'
else
  on_terminal='' bold='' red='' yellow='' green='' plain=''
fi

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "${yellow}setup: $*${plain}" >&2; }

# die STATUS MESSAGE: 1 failed, 2 wrong use, 3 something needed is missing.
die() {
  local status=$1
  shift
  printf '%s\n' "${red}setup: $*${plain}" >&2
  exit "$status"
}

ticker=''

# One line that shows how long a step has taken and what its program said last.
start_ticker() {
  [[ $on_terminal ]] || return 0
  local begun=$SECONDS
  while sleep 1; do
    printf '\r\e[K  %3d s  %.60s' $((SECONDS - begun)) "$(tail -n 1 "$log" | tr -cd '[:print:]')"
  done 9>&- &
  ticker=$!
}

stop_ticker() {
  [[ $ticker ]] || return 0
  kill "$ticker" 2>/dev/null && wait "$ticker" 2>/dev/null
  ticker=''
  printf '\r\e[K'
}

# step LABEL COMMAND...: runs it with its output in $log; on failure shows the end of the log.
# Descriptor 9 is the lock: a program left running must not keep it.
step() {
  local label=$1 begun=$SECONDS status=0
  shift
  say "  $label"
  printf '\n== %s\n' "$label" >>"$log"
  start_ticker
  "$@" >>"$log" 2>&1 9>&- || status=$?
  stop_ticker
  if ((status)); then
    awk '/^== / { text = "" } { text = text $0 "\n" } END { printf "%s", text }' "$log" |
      tail -n 25 | sed 's/^/  | /' >&2
    warn "failed after $((SECONDS - begun)) s: $label (all of it: $log)"
    return "$status"
  fi
}

# retry COMMAND...: three times, since mirrors and registries fail now and then.
retry() {
  local attempt status
  for attempt in 1 2 3; do
    "$@" && return 0
    status=$?
    ((status != not_pinned)) || return "$status"
    ((attempt == 3)) || { echo "attempt $attempt failed; once more" && sleep $((attempt * 5)); }
  done
  return 1
}
