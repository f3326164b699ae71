# shellcheck shell=bash disable=SC2034,SC2154
# Makes Debian's emscripten usable: a Binaryen that is new enough, acorn where node looks for it,
# and a configuration file that names both. All of it is kept in $cache, by version.

version_of() { sed -n "s/^$1=//p" <<<"$versions"; }

# Sets em_home (this version's folder in the cache) and em_config (empty: leave emcc as it is).
place_emscripten() {
  em_home=$cache/emscripten-$(version_of emscripten) em_config=$em_home/config
  binaryen_home=$em_home/binaryen-$(pinned_version binaryen)
  [[ $system != unknown ]] || em_home=$cache/emscripten em_config=''
}

# Debian 12's Binaryen is 108, which Emscripten 3.1.69 rejects. Debian 13's needs a newer C
# library, so that comes along and each tool is started through it, touching nothing outside.
fetch_binaryen() (
  to=$1
  mkdir -p "$to/deb" && cd "$to/deb" || exit
  retry apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download \
    {binaryen,libc6,libstdc++6,libgcc-s1}/trixie || exit
  check_downloads "$to/deb" binaryen libc6 libstdc++6 libgcc-s1 || exit
  for package in *.deb; do dpkg -x "$package" "$to/root" || exit; done
  cd "$to" && rm -r "$to/deb" && mkdir -p "$to/bin" || exit
  for package in "$to"/root/usr/bin/*; do
    package=${package##*/}
    cat >"$to/bin/$package" <<WRAPPER || exit
#!/bin/sh
home=\$(dirname "\$(readlink -f "\$0")")/../root/usr
lib=\$home/lib/$triplet
exec "\$lib/$loader" --library-path "\$lib" "\$home/bin/\${0##*/}" "\$@"
WRAPPER
    chmod +x "$to/bin/$package"
  done
  "$to/bin/wasm-opt" --version
)

# Written under a temporary name and renamed, so that a file with its name is complete.
prepare_binaryen() {
  [[ $system == bookworm && ! -d $binaryen_home ]] || return 0
  local new=$em_home/binaryen.$$
  rm -rf "$em_home"/binaryen.[0-9]*
  fetch_from_suite 'Binaryen of Debian 13' fetch_binaryen "$new"
  mv "$new" "$binaryen_home"
}

acorn_is_found() {
  (cd "$1" && node --input-type=module -e 'await import("acorn")') >/dev/null 2>&1
}

# emcc's own scripts import acorn. Debian's node finds /usr/share/nodejs, other builds of node
# need a node_modules above the importing file.
link_acorn() {
  local tools=/usr/share/emscripten
  [[ $system != unknown ]] && ! acorn_is_found "$tools/tools" || return 0
  need_root
  step 'linking acorn for emcc' as_root ln -sfn /usr/share/nodejs "$tools/node_modules"
  acorn_is_found "$tools/tools" || die 3 'missing: acorn for emcc (package node-acorn)'
}

config_text() {
  local binaryen=/usr
  [[ $system == bookworm ]] && binaryen=$binaryen_home
  cat <<CONFIG
LLVM_ROOT = '/usr/bin'
LLVM_ADD_VERSION = '19'
CLANG_ADD_VERSION = '19'
BINARYEN_ROOT = '$binaryen'
NODE_JS = '$(command -v node)'
CLOSURE_COMPILER = 'closure-compiler'
FROZEN_CACHE = True
CONFIG
}

# Sourced by a tool before it builds. Rewritten only if something changed, so that two
# simultaneous builds never see an incomplete file.
env_text() {
  local python=python3 emcc
  [[ -x /usr/bin/python3 ]] && python=/usr/bin/python3
  emcc=$(dirname "$(readlink -f "$(command -v emcc || echo /usr/share/emscripten/emcc)")")
  echo '# Written by tools/setup: source it (bash), then build.'
  printf 'export %s=%q\n' DRIFTSCOPE_CACHE "$cache" DRIFTSCOPE_XNNPACK "$xnnpack_home" \
    DRIFTSCOPE_IMGUI "$imgui_home" DRIFTSCOPE_ZLIB "$zlib_home" DRIFTSCOPE_NODE_LIBRARIES "$node_libraries_home" \
    DRIFTSCOPE_EMSCRIPTEN_TOOLCHAIN "$emcc/cmake/Modules/Platform/Emscripten.cmake" \
    EMSDK_PYTHON "$python"
  if [[ -d $ort_headers ]]; then printf 'export DRIFTSCOPE_ONNXRUNTIME_HEADERS=%q\n' "$ort_headers"; fi
  if [[ $em_config ]]; then printf 'export EM_CONFIG=%q\n' "$em_config"; fi
  if wheel_is_ready; then printf 'export DRIFTSCOPE_WHEEL_TOOLS=%q\n' "$wheel_home"; fi
  command -v ccache >/dev/null || return 0
  printf 'export CMAKE_%s_COMPILER_LAUNCHER=ccache\n' C CXX
  # Sloppiness: needed so that precompiled headers of the same text count as equal.
  # shellcheck disable=SC2016
  printf '[[ ${%s:-} ]] || export %s=%q\n' CCACHE_DIR{,} "$cache/ccache" CCACHE_MAXSIZE{,} 4G \
    CCACHE_SLOPPINESS{,} pch_defines,time_macros,include_file_mtime,include_file_ctime
}

# put FILE TEXT: replaces FILE atomically, and only if it differs.
put() {
  [[ -f $1 && $(<"$1") == "$2" ]] && return
  mkdir -p "$(dirname "$1")"
  printf '%s\n' "$2" >"$1.$$" && mv "$1.$$" "$1"
}

write_env() {
  if [[ $em_config ]]; then put "$em_config" "$(config_text)"; fi
  put "$cache/env.sh" "$(env_text)"
}

# The trial: each compiler builds and runs the same small program. Done once per set of versions.
trial_name() {
  local name
  name=$(printf '%s\n' "$(grep -E '^(g\+\+|.*clang.*|lld-19|emscripten)=' <<<"$versions")" \
    "$(node --version 2>/dev/null)" "$(<"$parts/trial.cpp")" "$(config_text)" | sha256sum)
  echo "$em_home/tried-${name:0:16}"
}

try_native() {
  "$@" -std=c++20 -O1 -pthread "$parts/trial.cpp" -o "$trial/a.out" &&
    ASAN_OPTIONS=detect_leaks=0 "$trial/a.out"
}

try_web() {
  # shellcheck disable=SC1091
  . "$cache/env.sh"
  em++ -std=c++20 -O2 -msimd128 -pthread -fwasm-exceptions -sMODULARIZE -sEXPORT_ES6 \
    -sPROXY_TO_PTHREAD -sEXIT_RUNTIME "$parts/trial.cpp" -o "$trial/trial.mjs" &&
    echo 'import trial from "./trial.mjs"; await trial();' >"$trial/run.mjs" &&
    [[ $(timeout 60 node "$trial/run.mjs") == 'answer 42' ]]
}

try_compilers() {
  local done_file
  done_file=$(trial_name)
  [[ ! -e $done_file ]] || return 0
  trial=$(mktemp -d "$cache/trial.XXXXXX")
  step 'trying g++' try_native "${CXX:-g++}" || die 3 'missing: a g++ that works'
  if command -v clang++-19 >/dev/null; then
    step 'trying clang++-19 with its sanitizers' try_native clang++-19 -fuse-ld=lld \
      -fsanitize=address,undefined || die 3 'missing: clang-19, lld-19 or libclang-rt-19-dev'
  fi
  step 'trying emcc: SIMD, threads and exceptions under node' try_web ||
    die 3 'missing: an emscripten that works'
  rm -rf "$trial"
  mkdir -p "$em_home" && : >"$done_file"
}
