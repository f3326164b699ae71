# shellcheck shell=bash disable=SC2034,SC2154
# A Chromium with WebNN, which Debian's lacks: npm's @sparticuz/chromium (a headless_shell, pinned in
# package-lock.json) holds it compressed; unpacked into the cache, by version. x86-64 only.

# Sets webnn_home: its folder in the cache. Needs node_modules, see prepare_modules.
place_webnn() {
  webnn_package=$root/node_modules/@sparticuz/chromium
  webnn_home=''
  [[ $(uname -m) == x86_64 && -f $webnn_package/package.json ]] || return 0
  webnn_home=$cache/chromium-webnn-$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$webnn_package/package.json")
}

# Without it all else works: nothing is missing where there is no such package.
webnn_is_ready() { [[ ! $webnn_home || -x $webnn_home/chromium ]]; }

unpack_webnn() (
  to=$1
  mkdir -p "$to" && cd "$to" || exit
  node --input-type=module - "$webnn_package/bin" <<'NODE' || exit
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
const folder = process.argv[2];
const unpack = (from, to) =>
  pipeline(createReadStream(`${folder}/${from}`), createBrotliDecompress(), createWriteStream(to));
await unpack("chromium.br", "chromium");
await unpack("swiftshader.tar.br", "swiftshader.tar");
NODE
  tar -xf swiftshader.tar && rm swiftshader.tar && chmod +x chromium
)

# Written under a temporary name and renamed, so that a folder with its name is complete.
prepare_webnn() {
  place_webnn
  webnn_is_ready && return
  local new=$webnn_home.new
  rm -rf "$new" "$cache"/chromium-webnn-*
  step 'unpacking a Chromium with WebNN into the cache' unpack_webnn "$new" ||
    { rm -rf "$new" && die 1 'the Chromium with WebNN could not be unpacked'; }
  mv "$new" "$webnn_home"
}
