# shellcheck shell=bash
# What the machine has to have before any work begins.

# Says which of the programs are missing, and how to install them.
require_programs() {
  local missing=() program package
  if ! command -v apt-get >/dev/null; then
    echo 'error: the platform is built from packages of Debian, and here is no apt-get' >&2
    return 1
  fi
  while read -r program package; do
    command -v "$program" >/dev/null || missing+=("$package")
  done <<'END'
mvn maven
python3 python3
patch patch
xz xz-utils
END
  find_jdk17 >/dev/null || missing+=(openjdk-17-jdk)
  # apt checks Debian's signatures with these keys; on a derivative of Debian they may be missing.
  [[ -e $DEBIAN_KEYS ]] || missing+=(debian-archive-keyring)
  # A Swing application needs a font, even without a display.
  [[ -n $(find /usr/share/fonts -name '*.[ot]tf' -print -quit 2>/dev/null) ]] || missing+=(fonts-dejavu-core)
  if ((${#missing[@]})); then
    local sudo='sudo '
    ((EUID)) || sudo=
    printf 'error: missing on this machine; install with\n  %sapt-get install %s\n' "$sudo" "${missing[*]}" >&2
    return 1
  fi
}

# Prints the home of a JDK 17: JAVA_HOME, Debian's, or that of the javac on the PATH.
find_jdk17() {
  local candidate javac
  javac=$(readlink -f "$(command -v javac)" || true)
  for candidate in "${JAVA_HOME:-}" /usr/lib/jvm/java-17-openjdk-* "${javac%/bin/javac}"; do
    if [[ -n $candidate && $("$candidate/bin/javac" -version 2>&1) == 'javac 17.'* ]]; then
      echo "$candidate"
      return
    fi
  done
  return 1
}
