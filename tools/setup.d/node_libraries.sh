# shellcheck shell=bash disable=SC2034,SC2154
# Libraries of the command line for Node: the sources of Debian, unpacked into the cache, which the build for
# WebAssembly compiles (cmake/node_libraries.cmake). Debian's own packages of them are native only.

node_libraries=(brotli cpp-httplib libyaml pcre2 sqlite3 utf8proc)

# Sets node_libraries_home: their folder in the cache. On a system whose packages are not Debian's its owner provides
# folders of these names, with sqlite3/sqlite3.c, and names the one that holds them in DRIFTSCOPE_NODE_LIBRARIES.
place_node_libraries() {
  local name versions=''
  for name in "${node_libraries[@]}"; do versions+="$name $(pinned_version "$name") "; done
  node_libraries_home=$cache/node-libraries-$(sha256sum <<<"$versions" | cut -c1-12)
  [[ $system != unknown ]] || node_libraries_home=${DRIFTSCOPE_NODE_LIBRARIES:-$node_libraries_home}
}

node_libraries_are_ready() { [[ -f $node_libraries_home/sqlite3/sqlite3.c ]]; }

fetch_node_libraries() (
  to=$1
  mkdir -p "$to"/apt/{lists,cache/archives}/partial "$to/files" && cd "$to/files" || exit
  # The mirrors of Debian 13 lack the sources of utf8proc now and then; its own version is that of Debian 12.
  for suite in trixie bookworm; do
    wanted=("${node_libraries[@]/utf8proc/}")
    [[ $suite == trixie ]] || wanted=(utf8proc)
    write_suite "$to/apt/$suite" "$suite" || exit
    retry suite_apt update || exit
    for name in ${wanted[@]}; do
      retry suite_apt source --download-only --tar-only "$name/$suite" || exit
    done
  done
  rm -f sqlite3_*.orig-www.*  # its web site
  check_downloads "$to/files" "${node_libraries[@]}" || exit
  for name in "${node_libraries[@]}"; do
    unpack "$to/files/$name"_*.orig.tar.* "$to/$name" || exit
  done
  # sqlite3.c, one file of all sources, is what SQLite's own build makes.
  (cd "$to/sqlite3" && ./configure --disable-tcl --disable-readline && make sqlite3.c) || exit
  rm -r "$to/apt" "$to/files"
)

# Written under a temporary name and renamed, so that a folder with its name is complete.
prepare_node_libraries() {
  node_libraries_are_ready && return
  if [[ $system == unknown ]]; then
    warn 'the sources of brotli, cpp-httplib, libyaml, pcre2, sqlite3 and utf8proc are missing: without the command line for Node' \
      '(DRIFTSCOPE_NODE_LIBRARIES names their folder)'
    return
  fi
  local new=$node_libraries_home.new
  rm -rf "$new" "$node_libraries_home"
  step 'fetching the libraries for Node into the cache' fetch_node_libraries "$new" ||
    not_fetched $? 'the sources of the libraries for Node (Debian)'
  mv "$new" "$node_libraries_home"
}
