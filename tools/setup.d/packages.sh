# shellcheck shell=bash disable=SC2034,SC2154
# Which packages are missing, and how to get them from apt.
# The list is tools/setup.d/packages; what the machine is comes from /etc/os-release.

# bookworm, trixie, or unknown for an untested system.
name_system() {
  local id version
  # shellcheck disable=SC1091
  id=$(. /etc/os-release 2>/dev/null && echo "${ID:-}")
  # shellcheck disable=SC1091
  version=$(. /etc/os-release 2>/dev/null && echo "${VERSION_ID:-}")
  case $id-$version-$(uname -m) in
    debian-12-"$machine") system=bookworm ;;
    debian-13-"$machine") system=trixie ;;
    *) system=unknown ;;
  esac
}

node_major() { node --version 2>/dev/null | sed -n 's/^v\([0-9]*\).*/\1/p'; }

# probe HOW: true if the requirement in the last column of the list is met.
probe() {
  local what=${1#*:}
  case $1 in
    own:* | cmd:*) command -v "$what" >/dev/null ;;
    node:*) (($(node_major || true) + 0 >= what)) ;;  # no node at all: version 0
    inc:*) echo "#include <$what>" | "${CXX:-c++}" -std=c++20 -E -xc++ - >/dev/null 2>&1 ;;
    file:*) compgen -G "$what" >/dev/null ;;
    py:*) /usr/bin/python3 -c "import $what" 2>/dev/null ;;
    *) true ;;
  esac
}

# Fills the array `missing` with the packages of the wanted groups that are not installed, and
# `versions` with NAME=VERSION of the others.
find_missing() {
  local group package how installed
  local -a all=() probes=()
  missing=() versions=''
  while read -r group package how; do
    [[ $group != *@* || ${group#*@} == "$system" ]] || continue
    group=${group%@*}
    [[ $group == \#* || -z $group || " ${groups[*]} " != *" $group "* ]] && continue
    all+=("$package") probes+=("$how")
  done <"$parts/packages"
  if [[ $system != unknown ]]; then
    # dpkg-query fails if one of the names is unknown, but still prints the known ones.
    versions=$(dpkg-query -W -f '${db:Status-Status} ${Package}=${Version}\n' "${all[@]}" \
      2>/dev/null | sed -n 's/^installed //p' || true)
  fi
  installed=$'\n'$versions
  local i
  for i in "${!all[@]}"; do
    package=${all[i]} how=${probes[i]}
    [[ $installed == *$'\n'"$package="* ]] && continue
    if [[ $system == unknown || $how == own:* || $how == node:* ]]; then
      probe "$how" && continue
    fi
    missing+=("$package")
  done
}

# as_root COMMAND...: sudo asks on the terminal before the first step, not in the middle of one.
as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

need_root() {
  ((EUID == 0)) && return
  local hint="run tools/setup once as root, then again as yourself"
  command -v sudo >/dev/null || die 3 "missing: ${missing[*]:-} and sudo to install it; $hint"
  sudo -n true 2>/dev/null || sudo -v || die 3 "missing: ${missing[*]:-}; sudo rejected; $hint"
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
    apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@"
}

# apt waits for dpkg's lock by itself, but not for the one on the package lists.
apt_update() {
  local waited=0 said
  while true; do
    said=$(apt update 2>&1) && break
    printf '%s\n' "$said"
    [[ $said == *"/lists/lock"* && $waited -lt 300 ]] || return 1
    sleep 5
    waited=$((waited + 5))
  done
  printf '%s\n' "$said"
}

# Debian 12 alone: its emscripten and binaryen are too old. The suite of Debian 13 is added from
# the machine's own entry for Debian 12, so no mirror is named here; priority 100 means that
# nothing comes from there unless it is asked for.
suite_pin=/etc/apt/preferences.d/driftscope-trixie
suite_list=/etc/apt/sources.list.d/driftscope-trixie

# shellcheck disable=SC2016
has_suite() { [[ $(apt-get indextargets --format '$(CODENAME)' 2>/dev/null) == *trixie* ]]; }

add_suite() {
  local kind text
  has_suite && return
  for kind in sources list; do
    text=$(find /etc/apt/sources.list /etc/apt/sources.list.d -maxdepth 1 -type f \
      -name "*.$kind" -print0 2>/dev/null |
      sort -z | xargs -0r awk -f "$parts/copy-suite.awk" -v from=bookworm -v to=trixie)
    [[ $text ]] || continue
    printf 'Package: *\nPin: release n=trixie\nPin-Priority: 100\n' |
      as_root tee "$suite_pin" >/dev/null
    printf '%s\n' "$text" | as_root tee "$suite_list.$kind" >/dev/null
    return
  done
  echo "no package source for Debian 12 (bookworm main) found in /etc/apt"
  return 1
}

# Package lists from an earlier run, or missing ones, no longer lead to a package.
refresh_suite() {
  need_root
  step 'adding the suite trixie to the package sources, for Emscripten only' add_suite ||
    die 3 'missing: a package source that has emscripten of Debian 13'
  # A source that does not respond may not be needed: the installation decides.
  step 'refreshing the package lists' retry apt_update || true
}

# fetch_from_suite WHAT FUNCTION FOLDER: fetches packages into the cache, using the existing lists, or
# else by fresh ones.
fetch_from_suite() {
  local label="fetching $1 into the cache" status=1
  if has_suite; then
    status=0
    step "$label" "$2" "$3" || status=$?
    ((status)) || return 0
  fi
  ((status != not_pinned)) || not_fetched "$status" "$1"
  refresh_suite
  step "$label" "$2" "$3" || not_fetched $? "$1"
}

# The names to give to apt for the packages NAME...
apt_names() {
  local name
  for name; do
    if [[ $system == bookworm && $name == emscripten ]]; then
      echo emscripten/trixie
    else
      echo "$name"
    fi
  done
}

install_once() {
  local -a names
  mapfile -t names < <(apt_names "${missing[@]}")
  apt_update || return
  if [[ " ${names[*]} " == *' emscripten/trixie '* ]]; then check_offered emscripten || return; fi
  apt install -y --no-install-recommends "${names[@]}"
}

install_missing() {
  local -a wanted=("${missing[@]}")
  need_root
  if [[ $system == bookworm && " ${wanted[*]} " == *' emscripten '* ]]; then
    step 'adding the suite trixie to the package sources, for Emscripten only' add_suite ||
      die 3 'missing: a package source that has emscripten of Debian 13'
  fi
  local status=0
  step "installing packages (${#wanted[@]}): ${wanted[*]}" retry install_once || status=$?
  find_missing
  ((status != not_pinned)) || not_fetched "$status" 'emscripten of Debian 13'
  ((${#missing[@]} == 0)) || die 3 "missing: ${missing[*]}"
  ((status == 0)) || warn 'apt reported an error, but every package is there'
}
