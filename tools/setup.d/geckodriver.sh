# shellcheck shell=bash disable=SC2034,SC2154
# Firefox's WebDriver, which Debian lacks: built in the cache from Mozilla's crate, which is pinned by its hash; its own
# Cargo.lock pins what it is built of. Client: grid.sh.

geckodriver_version=0.37.1
geckodriver_sha256=79f38cf1541aaf57f6f7eb270f691bcb702485a95dbaaefe740141a8ea46f0ef
geckodriver_rust=85  # the minor version of the oldest Rust that knows the edition of its sources

place_geckodriver() { geckodriver_home=$cache/geckodriver-$geckodriver_version; }

# Debian's cargo is too old; whoever has one of rustup's has all that is needed.
can_build_geckodriver() {
  local version
  version=$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
  ((${version:-0} >= geckodriver_rust))
}

geckodriver_is_ready() { [[ -x $geckodriver_home/bin/geckodriver ]] || ! can_build_geckodriver; }

# The crate lies in Cargo's folder once its description was asked for, and is built only if it is the pinned one.
fetch_geckodriver() (
  to=$1 crate=geckodriver-$geckodriver_version
  mkdir -p "$to" && cd "$to" || exit
  retry cargo info "geckodriver@$geckodriver_version" || exit
  fetched=("${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$crate.crate")
  cp "${fetched[0]}" "$crate.crate" || exit
  sha256sum --check <<<"$geckodriver_sha256  $crate.crate" || exit "$not_pinned"
  tar -xzf "$crate.crate" || exit
  export CARGO_TARGET_DIR=$to/target
  retry nice cargo install --locked --jobs 2 --path "$crate" --root "$to" || exit
  rm -rf target "$crate" "$crate.crate"
)

prepare_geckodriver() {
  if ! can_build_geckodriver && [[ ! -x $geckodriver_home/bin/geckodriver ]]; then
    warn "without geckodriver, and so without its tests: it needs Rust 1.$geckodriver_rust or later (rustup has it)"
    return
  fi
  geckodriver_is_ready && return
  local new=$geckodriver_home.new
  rm -rf "$new" "$cache"/geckodriver-*
  step 'building geckodriver in the cache (some minutes)' fetch_geckodriver "$new" ||
    { rm -rf "$new" && die 1 'geckodriver could not be built, or is not the pinned crate'; }
  mv "$new" "$geckodriver_home"
}
