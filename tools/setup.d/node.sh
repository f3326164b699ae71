# shellcheck shell=bash disable=SC2034,SC2154
# npm's packages: one folder in the cache for each content of package-lock.json, and a link to it
# in the clone, so that a second clone has nothing to fetch.

place_modules() {
  local hash
  hash=$(sha256sum <"$root/package-lock.json")
  modules=$cache/npm-${hash:0:16}/node_modules
}

modules_are_ready() {
  if [[ -d $root/node_modules && ! -L $root/node_modules ]]; then
    [[ $root/node_modules/.package-lock.json -nt $root/package-lock.json ]]
  else
    [[ -d $modules && $(readlink "$root/node_modules") == "$modules" ]]
  fi
}

npm_ci() {
  retry npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=2 \
    --fetch-retry-mintimeout=2000 --fetch-retry-maxtimeout=10000 \
    --cache "$cache/npm-downloads" --prefix "$1"
}

# drop_other_platforms FOLDER…: removes files for other machines from FOLDER/platform/architecture; 240 MB.
drop_other_platforms() {
  local folder
  for folder; do
    find "$folder" -mindepth 2 -maxdepth 2 ! -path "$folder/$node_platform" -exec rm -rf {} +
  done
}

fetch_modules() {
  local home new
  home=$(dirname "$modules")
  new=$home.$$
  rm -rf "$cache"/npm-*.[0-9]* && mkdir -p "$new/node_modules" &&
    cp "$root"/{package.json,package-lock.json,.npmrc} "$new" && npm_ci "$new" &&
    drop_other_platforms "$new"/node_modules/onnxruntime-node/bin/* &&
    mv "$new" "$home" && return
  rm -rf "$new"
  return 1
}

# A node_modules that is a real folder is the user's own: it is updated, not replaced.
prepare_modules() {
  modules_are_ready && return
  command -v npm >/dev/null || die 3 'missing: npm'
  if [[ -d $root/node_modules && ! -L $root/node_modules ]]; then
    step 'npm ci in this clone' npm_ci "$root" || die 3 'missing: npm packages'
    touch "$root/node_modules/.package-lock.json"
    return
  fi
  if [[ ! -d $modules ]]; then
    rm -rf "$(dirname "$modules")"
    step 'fetching npm packages into the cache' fetch_modules ||
      die 3 'missing: npm packages of package-lock.json'
  fi
  ln -sfn "$modules" "$root/node_modules"
}
