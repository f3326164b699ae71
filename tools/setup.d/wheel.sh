# shellcheck shell=bash disable=SC2034,SC2154
# What tools/wheel --native packs with, in the cache: a virtual environment (the lock frameworks/wheel), and httplib's code
# as Debian's library has it, of the version whose headers are installed, to be linked statically.

wants_wheel() { [[ " ${groups[*]} " == *' wheel '* ]]; }

place_wheel() {
  local httplib
  httplib=$(dpkg-query -W -f '${source:Version}' libcpp-httplib-dev 2>/dev/null) || httplib=none
  find_python || return 0
  wheel_home=$cache/wheel-$(cat "$parts/frameworks/wheel.$python_tag-linux-x86_64.lock" - <<<"$httplib" | sha256sum | cut -c1-12)
}

wheel_is_ready() { [[ ${wheel_home:-} && -f $wheel_home/ready ]]; }

fetch_httplib() (
  to=$1
  mkdir -p "$to"/apt/{lists,cache/archives}/partial "$to/files" && cd "$to/files" || exit
  write_suite "$to/apt/$system" "$system" || exit
  retry suite_apt update || exit
  # Signed like the package of its headers, which must fit; with Debian's patches.
  retry suite_apt source "cpp-httplib=$(dpkg-query -W -f '${source:Version}' libcpp-httplib-dev)" || exit
  cd cpp-httplib-* && python3 ./split.py && diff out/httplib.h /usr/include/httplib.h || exit
  mv out/httplib.cc "$to/httplib.cc" && rm -r "$to/apt" "$to/files"
)

# A virtual environment knows its own path: it is made in place, and a file says that it is complete.
prepare_wheel() {
  wants_wheel && ! wheel_is_ready || return 0
  [[ $system != unknown ]] || die 3 'native wheels are made on Debian 12 or 13'
  find_python || die 3 'no lock for a Python that is here: install python3-venv on Debian 12'
  rm -rf "$cache"/wheel-*
  step 'fetching the tools for wheels into the cache' fetch_frameworks wheel "$wheel_home" &&
    step "fetching httplib's code into the cache" fetch_httplib "$wheel_home/httplib" ||
    { rm -rf "$wheel_home" && die 1 'the tools for wheels could not be installed'; }
  touch "$wheel_home/ready"
  write_env
}
