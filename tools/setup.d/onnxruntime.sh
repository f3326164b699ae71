# shellcheck shell=bash disable=SC2034,SC2154
# The C header of ONNX Runtime, which npm's package of the library lacks: from Debian 13's
# libonnxruntime-dev, unpacked into the cache. The library serves the API of older headers.

# Sets ort_headers: the folder of onnxruntime_c_api.h. On an unknown system the owner must
# provide, see tools/setup.d/packages.
place_onnxruntime() {
  ort_home=$cache/onnxruntime-headers-$(pinned_version libonnxruntime-dev)
  ort_headers=$ort_home/usr/include/onnxruntime
}

onnxruntime_is_ready() {
  [[ $system == unknown || -f $ort_headers/onnxruntime_c_api.h ]]
}

fetch_onnxruntime() (
  to=$1
  mkdir -p "$to/deb" && cd "$to/deb" || exit
  retry apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download \
    libonnxruntime-dev/trixie || exit
  check_downloads "$to/deb" libonnxruntime-dev || exit
  dpkg -x ./*.deb "$to" && rm -r "$to/deb"
)

# Written under a temporary name and renamed, so that a file with its name is complete.
prepare_onnxruntime() {
  onnxruntime_is_ready && return
  local new=$ort_home.$$
  rm -rf "$ort_home" "$ort_home".[0-9]*
  fetch_from_suite "ONNX Runtime's C header (libonnxruntime-dev of Debian 13)" fetch_onnxruntime "$new"
  mv "$new" "$ort_home"
}
