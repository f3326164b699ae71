# Shared by tools/demo and tools/test: paths, set-up, builds.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/driftscope
build=$root/build
started=$SECONDS
export CCACHE_BASEDIR=$root  # so that another clone gets cache hits
export CCACHE_NOHASHDIR=1     # debug information may name the other clone

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' red=$'\e[31;1m' green=$'\e[32m' plain=$'\e[0m'
else
  bold='' red='' green='' plain=''
fi

say() { printf '%s%s%s\n' "$bold" "$*" "$plain"; }
fail() {
  printf '%s%s%s\n' "$red" "$*" "$plain" >&2
  exit 1
}

# set_up [--no-browsers]: installs what builds need. Browsers, needed last, are installed in parallel (unless
# sudo would have to ask): see browsers_are_here. Unpacking packages mostly waits for the disk.
browser_setup='' browser_log=$build/log/setup-browsers.log
set_up() {
  if [[ $* == *--no-browsers* ]] || "$root/tools/setup" --check >/dev/null ||
    { ((EUID != 0)) && ! sudo -n true 2>/dev/null; }; then
    "$root/tools/setup" "$@"
  else
    "$root/tools/setup" --no-browsers
    mkdir -p "$build/log"
    say 'Browsers are installed while the build goes on.'
    "$root/tools/setup" >"$browser_log" 2>&1 &
    browser_setup=$!
  fi
  # shellcheck source=/dev/null
  . "$cache/env.sh"
}

browsers_are_here() {
  [[ $browser_setup ]] || return 0
  kill -0 "$browser_setup" 2>/dev/null && say 'Waiting for the browsers'
  wait "$browser_setup" || {
    local status=$?
    cat "$browser_log" >&2
    exit "$status"
  }
  browser_setup=''
}

# Interrupting a package manager corrupts its state: it finishes its work, and we wait.
end_browser_setup() {
  [[ $browser_setup ]] || return 0
  kill "$browser_setup" 2>/dev/null
  wait "$browser_setup" 2>/dev/null
  browser_setup=''
}

# Set while something else is going on, as tests: a build then has what these leave of the processors.
behind=''

# build_preset PRESET TARGET…: configures when there is no build yet or the presets have changed since, builds, shows the log only when it fails.
build_preset() {
  local preset=$1 log=$build/log/$1.log
  shift
  mkdir -p "$build/log"
  if [[ ! -f $build/$preset/build.ninja || $root/CMakePresets.json -nt $build/$preset/build.ninja ]]; then
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || {
      cat "$log" >&2
      fail "configuring $preset failed"
    }
  fi
  local start=$SECONDS
  if [[ -t 1 && ! $behind ]]; then
    # Ninja's own status line is the progress; errors come through.
    ninja -C "$build/$preset" "$@" || fail "building $preset failed"
  else
    ${behind:+nice -n 10} ninja -C "$build/$preset" "$@" >>"$log" 2>&1 || {
      tail -n 80 "$log" >&2
      fail "building $preset failed; all of it is in $log"
    }
  fi
  printf '%-14s %s  (%d s)\n' "$preset" "$*" $((SECONDS - start))
}
