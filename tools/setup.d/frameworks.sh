# shellcheck shell=bash disable=SC2034,SC2154
# Virtual environments with the frameworks whose recorders tests/python/frameworks tests: one in the cache for each content
# of a lock file (tools/setup.d/frameworks), from wheels with hashes. "mxnet" and "foolbox2" are apart, since they need an
# old NumPy; "foolbox" and "textattack" hold what they need beside "packages"; "tokenizers" needs nothing else.

frameworks_locks=(packages mxnet foolbox foolbox2 textattack tokenizers)

# Debian's own Python, or one of the same version: a lock is for one version.
find_python() {
  local python
  for python in /usr/bin/python3 python3.11; do
    python_tag=$("$python" -c 'import ensurepip, sys; print("cp%d%d" % sys.version_info[:2])' 2>/dev/null) || continue
    framework_python=$python
    [[ ! -f $parts/frameworks/packages.$python_tag-linux-x86_64.lock ]] || return 0
  done
  return 1
}

# framework_environment LOCK: its folder; fails where there is no lock for this Python.
framework_environment() {
  local lock=$parts/frameworks/$1.$python_tag-linux-x86_64.lock hash
  hash=$(cat "$lock" "$parts/torch_without_cuda.py" | sha256sum) || return
  printf '%s/frameworks-%s-%s\n' "$cache" "$1" "${hash:0:16}"
}

wants_frameworks() { [[ " ${groups[*]} " == *' frameworks '* ]]; }

frameworks_are_ready() {
  local lock
  find_python || return
  for lock in "${frameworks_locks[@]}"; do
    [[ -x $(framework_environment "$lock")/bin/python ]] || return
  done
}

fetch_frameworks() {
  local lock=$1 to=$2 wheels
  local file=$parts/frameworks/$lock.$python_tag-linux-x86_64.lock
  local install=("$to/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes
    --only-binary :all: --no-compile --no-cache-dir)
  "$framework_python" -m venv "$to" || return
  if [[ $lock == foolbox2 ]]; then
    # Of Foolbox 2 there is no wheel: the setuptools of the lock builds it.
    wheels=$to/wheels.lock
    grep -v '^foolbox==' "$file" >"$wheels" && retry "${install[@]}" -r "$wheels" || return
    install+=(--no-binary foolbox --no-build-isolation)
  fi
  retry "${install[@]}" -r "$file" || return
  [[ $lock != packages ]] || python3 "$parts/torch_without_cuda.py" "$to/lib/python${python_tag:2:1}.${python_tag:3}/site-packages"
}

# A virtual environment knows its own path, so it is made in place; its name is a link that is made last.
prepare_frameworks() {
  wants_frameworks || return 0
  find_python || die 3 "no lock for a Python that is here (Debian's is ${python_tag:-without ensurepip}, the locks are for" \
    "cp311): install python3-venv on Debian 12, or python3.11, or make a lock with tools/setup.d/frameworks/lock"
  local lock home
  for lock in "${frameworks_locks[@]}"; do
    home=$(framework_environment "$lock")
    [[ ! -x $home/bin/python ]] || continue
    rm -rf "$cache/frameworks-$lock-"* "$cache/frameworks-bytecode"
    step "fetching the frameworks ($lock) into the cache" fetch_frameworks "$lock" "$home.made" ||
      { rm -rf "$home.made" && die 1 "the frameworks ($lock) could not be installed"; }
    ln -s "$home.made" "$home"
  done
}
