# shellcheck shell=bash disable=SC2034,SC2154
# zlib and its minizip: Debian 13's source tarball, unpacked into the cache, by version. Both builds compile
# minizip (cmake/minizip.cmake), and WebAssembly zlib too: Debian's packages are native only, and its minizip of
# version 1.1 is too old.

# Sets zlib_home: its folder in the cache. On a system whose packages are not Debian's its owner provides the
# sources of zlib 1.3 or newer and names their folder in DRIFTSCOPE_ZLIB.
place_zlib() {
  zlib_version=$(pinned_version zlib)
  zlib_home=$cache/zlib-${zlib_version#*really}
  [[ $system != unknown ]] || zlib_home=${DRIFTSCOPE_ZLIB:-$zlib_home}
}

zlib_is_ready() { [[ -f $zlib_home/zlib.h && -f $zlib_home/contrib/minizip/unzip.c ]]; }

# Written under a temporary name and renamed, so that a file with its name is complete.
prepare_zlib() {
  zlib_is_ready && return
  if [[ $system == unknown ]]; then
    die 3 "zlib's sources are missing: unpack zlib 1.3 or newer and name the folder in DRIFTSCOPE_ZLIB"
  fi
  local new=$zlib_home.new
  rm -rf "$new" "$zlib_home"
  step 'fetching the sources of zlib into the cache' fetch_sources "$new" zlib ||
    not_fetched $? 'the sources of zlib (Debian 13)'
  mv "$new/zlib" "$zlib_home" && rm -rf "$new"
}
