# shellcheck shell=bash disable=SC2034,SC2154
# Downloads must match tools/setup.d/pins. apt has verified every file against its suite before it
# comes here; this checks that it is also the one that Driftscope was developed with.

pins=${DRIFTSCOPE_PINS:-$parts/pins}
not_pinned=9  # the exit code for a file with another hash: retrying is useless

# read_pin NAME: sets pin_version, pin_file and pin_sha256.
read_pin() {
  local name version file hash more
  while read -r name version file hash more; do
    [[ $name == "$1" ]] || continue
    pin_version=$version pin_file=$file pin_sha256=$hash
    [[ ! $more && $hash =~ ^[0-9a-f]{64}$ ]] && return
    echo "$pins: the line of '$1' is not: name version file SHA-256"
    return "$not_pinned"
  done <"$pins"
  echo "$pins: no line for '$1'"
  return "$not_pinned"
}

# pinned_version NAME
pinned_version() { (read_pin "$1" && echo "$pin_version"); }

# version_in FILE: NAME_VERSION_ARCHITECTURE.deb or NAME_VERSION.orig.tar.*
version_in() {
  local version=${1#*_}
  case $version in
    *.deb) version=${version%_*} ;;
    *) version=${version%.orig.tar.*} ;;
  esac
  printf '%s\n' "${version//%3a/:}"
}

# check_pin NAME FILE SHA256: whether the file that the suite offers for NAME may be taken.
check_pin() {
  local name=$1 file=${2##*/} got=$3 offered
  read_pin "$name" || return
  if [[ $file == "$pin_file" ]]; then
    [[ $got != "$pin_sha256" ]] || return 0
    printf '%s is not the file that %s pins:\n  expected SHA-256 %s\n  got      SHA-256 %s\n' \
      "$file" "$pins" "$pin_sha256" "${got:-none}"
    return "$not_pinned"
  fi
  offered=$(version_in "$file")
  if dpkg --compare-versions "$offered" gt "$pin_version"; then
    warn "$name $pin_version is pinned, the suite has moved on to $offered: that is taken, as apt verified it" \
      '(tools/setup.d/pins)' 2>&8
    return 0
  fi
  printf '%s: the suite offers %s, which is not newer than the pinned %s (%s)\n' "$name" "$offered" \
    "$pin_version" "$pin_file"
  return 1
}

# check_downloads FOLDER NAME…: checks the files that apt has put there.
check_downloads() {
  local folder=$1 name files hash
  shift
  for name; do
    files=("$folder/$name"_*)
    [[ ${#files[@]} == 1 && -f ${files[0]} ]] || {
      echo "$name: expected one file in $folder, got ${files[*]##*/}"
      return 1
    }
    hash=$(sha256sum <"${files[0]}") || return
    check_pin "$name" "${files[0]}" "${hash%% *}" || return
  done
}

# not_fetched STATUS WHAT: ends the set-up.
not_fetched() {
  (($1 != not_pinned)) || die 1 "refused: $2, which is not what tools/setup.d/pins says"
  die 3 "missing: $2, from the package sources"
}

# check_offered NAME…: the packages that apt would install from Debian 13, whose hashes its lists name.
check_offered() {
  local name file hash
  for name; do
    read -r file hash < <(apt-get download --print-uris "$name/trixie" | awk '{ print $2, $NF }') || {
      echo "$name: Debian 13 is not among the package sources"
      return 1
    }
    check_pin "$name" "$file" "${hash#SHA256:}" || return
  done
}
