# shellcheck shell=bash
# The checks that no ready tool makes. Each prints what breaks it, as FILE:LINE. Sourced after lib.sh.

LONG_FILE=400

# matching_files SUFFIX_PATTERN: those of the project that exist (a deleted one may still be listed).
matching_files() {
  project_files | grep -E "$1" | while read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
  done
  return 0
}

# Prints and fails if the pattern is found. The brackets keep a pattern from finding itself.
found_nowhere() {
  ! matching_files . | tr '\n' '\0' | xargs -0 grep -nIE "$1" /dev/null
}

no_private_names() {
  local registries='artifactor[y]|static[.]crates[.]io|index[.]crates[.]io|files[.]pythonhosted|pypi[.]org/simple|registry[.]npmjs|static[.]rust-lang[.]org|deb[.]debian[.]org'
  local homes='(^|[^A-Za-z0-9_.}/-])/(root|home/[a-z]+|Users/[A-Za-z]+)/'
  found_nowhere "$registries" && found_nowhere "$homes"
}

# Comments may speak of it, and an export is marked #[unsafe(no_mangle)]; code may not hold it, save
# one file of the module.
unsafe_stays_put() {
  local files
  files=$(matching_files '\.rs$' | tr '\n' '\0' | xargs -0 grep -lE '^[^/"]*\bunsafe( |$)' /dev/null || true)
  [ -n "$files" ] || return 0
  printf '%s\n' "$files"
  [[ $files == filter/proxy-wasm/src/* && $files != *$'\n'* ]]
}

# links_of FILE: the targets of its relative links, without anchors.
links_of() {
  grep -oE '\]\([^) ]+' "$1" | sed -e 's/^](//' -e 's/#.*//' | grep -vE '^([a-z]+:|$)' || true
}

links_exist() {
  local file link broken=0
  while read -r file; do
    while read -r link; do
      [ -z "$link" ] || [ -e "$(dirname "$file")/$link" ] || {
        echo "$file: $link is not there"
        broken=1
      }
    done <<<"$(links_of "$file")"
  done <<<"$(matching_files '\.md$')"
  return "$broken"
}

# A change of the code may leave the fault simulation's patches behind.
planted_faults_apply() {
  local file broken=0
  while read -r file; do
    patch --dry-run -s -f -p1 <"$file" || {
      echo "$file: it does not apply"
      broken=1
    }
  done <<<"$(matching_files '^filter/fault-sim/planted/.*\.patch$')"
  return "$broken"
}

# Warns only: a long file is a smell, not a fault.
long_files() {
  local file lines
  matching_files '\.rs$' | while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le "$LONG_FILE" ] || echo "warn $file has $lines lines"
  done
}
