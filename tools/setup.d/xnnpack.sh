# shellcheck shell=bash disable=SC2034,SC2154
# XNNPACK and its dependencies: Debian 13's source tarballs, unpacked into the cache, by version.
# apt checks their hashes, and pins.sh whether they are the known ones. CMake builds them
# (core/engines/fast/xnnpack.cmake).

# Sets xnnpack_home: its folder in the cache. On a system whose packages are not Debian's its owner
# provides a folder of the same layout and names it in DRIFTSCOPE_XNNPACK.
place_xnnpack() {
  xnnpack_version=$(pinned_version xnnpack)
  xnnpack_home=$cache/xnnpack-${xnnpack_version#*git}
  [[ $system != unknown ]] || xnnpack_home=${DRIFTSCOPE_XNNPACK:-$xnnpack_home}
}

# A separate apt configuration with only Debian 13: the machine's package sources list it at most for
# binary packages, and /etc/apt need not change for this.
suite_apt() {
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 \
    -o Dir::Etc::sourcelist="$suite_list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$to/apt/lists" -o Dir::Cache="$to/apt/cache" "$@"
}

# Writes to $1 the machine's own entry for Debian's main section, for sources too, of the suite $2 or Debian 13.
write_suite() {
  local suite form to=${2:-trixie}
  for suite in bookworm trixie; do
    for form in sources list; do
      suite_list=$1.$form
      find /etc/apt/sources.list /etc/apt/sources.list.d -maxdepth 1 -type f -name "*.$form" \
        -print0 2>/dev/null | sort -z | xargs -0r awk -f "$parts/copy-suite.awk" \
        -v from=$suite -v to="$to" -v sources=1 >"$suite_list"
      [[ ! -s $suite_list ]] || return 0
    done
  done
  echo 'no package source for the section main of Debian found in /etc/apt'
  return 1
}

fetch_xnnpack() (
  to=$1
  mkdir -p "$to"/apt/{lists,cache/archives}/partial "$to/files" && cd "$to/files" || exit
  write_suite "$to/apt/trixie" || exit
  retry suite_apt update || exit
  retry suite_apt source --download-only --tar-only {xnnpack,pthreadpool,fxdiv,fp16}/trixie || exit
  retry suite_apt download {libcpuinfo-dev,libcpuinfo0}/trixie || exit
  check_downloads "$to/files" xnnpack pthreadpool fxdiv fp16 libcpuinfo-dev libcpuinfo0 || exit
  for part in xnnpack pthreadpool fxdiv fp16; do
    unpack "$to/files/$part"_*.orig.tar.* "$to/$part" || exit
  done
  for package in libcpuinfo*.deb; do dpkg -x "$package" "$to/cpuinfo" || exit; done
  rm -r "$to/apt" "$to/files"
)

# fetch_sources FOLDER NAME: the pinned source tarball NAME of Debian 13, unpacked as FOLDER/NAME.
fetch_sources() (
  to=$1
  mkdir -p "$to"/apt/{lists,cache/archives}/partial "$to/files" && cd "$to/files" || exit
  write_suite "$to/apt/trixie" || exit
  retry suite_apt update || exit
  retry suite_apt source --download-only --tar-only "$2/trixie" || exit
  check_downloads "$to/files" "$2" || exit
  unpack "$to/files/$2"_*.orig.tar.* "$to/$2"
)

# unpack TARBALL FOLDER: its contents without tests, whether or not all lie in one folder.
unpack() {
  local inner
  mkdir "$2.all" && tar -xf "$1" -C "$2.all" --exclude=test --exclude=bench || return
  inner=("$2.all"/*)
  if ((${#inner[@]} == 1)); then mv "${inner[0]}" "$2" && rmdir "$2.all"; else mv "$2.all" "$2"; fi
}

xnnpack_is_ready() { [[ -d $xnnpack_home/xnnpack ]]; }

# Written under a temporary name and renamed, so that a file with its name is complete.
prepare_xnnpack() {
  xnnpack_is_ready && return
  if [[ $system == unknown ]]; then
    warn "XNNPACK's sources are missing: see tools/setup.d/xnnpack.sh, and name their folder in" \
      'DRIFTSCOPE_XNNPACK'
    return
  fi
  local new=$xnnpack_home.new
  rm -rf "$new"
  step 'fetching the sources of XNNPACK into the cache' fetch_xnnpack "$new" ||
    not_fetched $? 'the sources of xnnpack (Debian 13)'
  mv "$new" "$xnnpack_home"
}
