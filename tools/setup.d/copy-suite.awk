# Prints the first entry of apt's sources that offers the section `main` of Debian's suite FROM,
# with the suite TO and nothing but `main`. Reads both forms, one line or one paragraph.
# Other vendors also call a suite after Debian's: theirs do not end in /debian.

function words_have(line, word,   parts, n, i) {
  n = split(line, parts, /[ \t]+/)
  for (i = 1; i <= n; i++) if (parts[i] == word) return 1
  return 0
}

function debian(uri) { return uri ~ /\/debian\/?$/ || uri ~ /^mirror\+file:.*debian[^\/]*$/ }

function finish_paragraph() {
  if (usable && suite && main && uri && !done) {
    printf "%s", paragraph
    done = 1
  }
  paragraph = ""; suite = main = uri = 0; usable = 1
}

BEGIN { usable = 1 }
FNR == 1 { finish_paragraph() }
/^[ \t]*#/ { next }

FILENAME ~ /\.list$/ {
  if (done || $1 != "deb") next
  line = $0
  sub(/^deb[ \t]+(\[[^]]*\][ \t]+)?/, "", line)
  options = substr($0, 1, length($0) - length(line))
  split(line, field, /[ \t]+/)
  if (debian(field[1]) && field[2] == from && words_have(line, "main")) {
    print options field[1] " " to " main"
    if (sources) print "deb-src" substr(options field[1], 4) " " to " main"
    done = 1
  }
  next
}

/^[ \t]*$/ { finish_paragraph(); next }
{
  key = tolower($1)
  value = $0
  sub(/^[^:]*:[ \t]*/, "", value)
  if (key == "types:") { usable = usable && words_have(value, "deb"); $0 = "Types: deb" (sources ? " deb-src" : "") }
  if (key == "enabled:" && tolower(value) ~ /^(no|false|off|0)/) usable = 0
  if (key == "uris:") { split(value, list, /[ \t]+/); uri = debian(list[1]) }
  if (key == "suites:") { suite = words_have(value, from); $0 = "Suites: " to }
  if (key == "components:") { main = words_have(value, "main"); $0 = "Components: main" }
  paragraph = paragraph $0 "\n"
}
END { finish_paragraph() }
