# shellcheck shell=bash disable=SC2034,SC2154
# Appium with its fake driver, and the one that starts a Chromium of this machine: npm's packages of appium/package-lock.json,
# one folder in the cache for each content of that. APPIUM_HOME is that folder. Client: grid.sh.

place_appium() {
  local hash
  hash=$(sha256sum <"$parts/appium/package-lock.json")
  appium_home=$cache/appium-${hash:0:16}
}

# Of Node, as Appium says.
can_run_appium() { node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null; }

appium_is_ready() { [[ -f $appium_home/node_modules/appium/index.js ]] || ! can_run_appium; }

fetch_appium() {
  mkdir -p "$1/node_modules" && cp "$parts"/appium/package{,-lock}.json "$root/.npmrc" "$1" &&
    npm_config_omit=optional npm_ci "$1"
}

# Written under a temporary name and renamed, so that a folder with its name is complete.
prepare_appium() {
  can_run_appium || { warn 'without Appium, and so without its tests: it needs Node 20.19 or later' && return; }
  appium_is_ready && return
  local new=$appium_home.new
  rm -rf "$new" "$cache"/appium-*
  step 'fetching Appium into the cache' fetch_appium "$new" ||
    { rm -rf "$new" && die 1 'Appium could not be fetched, or is not what its lock file says'; }
  mv "$new" "$appium_home"
}
