# shellcheck shell=bash disable=SC2034,SC2154
# Dask, for the long test of --cluster (tests/python/cluster): a virtual environment in the cache, of the lock
# frameworks/cluster, made like those of the frameworks.

wants_cluster() { [[ " ${groups[*]} " == *' cluster '* ]]; }

cluster_is_ready() { find_python && [[ -x $(framework_environment cluster)/bin/python ]]; }

# A virtual environment knows its own path, so it is made in place; its name is a link that is made last.
prepare_cluster() {
  wants_cluster && ! cluster_is_ready || return 0
  find_python || die 3 "no lock for a Python that is here (Debian's is ${python_tag:-without ensurepip}, the lock is" \
    "for cp311): install python3-venv on Debian 12, or python3.11, or make a lock with tools/setup.d/frameworks/lock"
  local home
  home=$(framework_environment cluster)
  rm -rf "$cache/frameworks-cluster-"*
  step 'fetching Dask into the cache' fetch_frameworks cluster "$home.made" ||
    { rm -rf "$home.made" && die 1 'Dask could not be installed'; }
  ln -s "$home.made" "$home"
}
