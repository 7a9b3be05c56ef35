# shellcheck shell=bash
# The JDK. What else the machine has to have, `cargo xtask` has looked for (rust/xtask/src/needs.rs).

# Prints the home of a JDK from 17 to 21 that can open windows: JAVA_HOME, the oldest below /usr/lib/jvm, or that of
# the javac on the PATH.
find_jdk() {
  local candidate javac version
  javac=$(readlink -f "$(command -v javac)" || true)
  for candidate in "${JAVA_HOME:-}" /usr/lib/jvm/*-{17..21}-* "${javac%/bin/javac}"; do
    [[ -n $candidate && -e $candidate/lib/libawt_xawt.so ]] || continue
    version=$("$candidate/bin/javac" -version 2>&1) || continue
    if [[ $version =~ ^javac\ (17|18|19|20|21)(\.|$) ]]; then
      echo "$candidate"
      return
    fi
  done
  echo 'error: there is no JDK from 17 to 21; name one in JAVA_HOME' >&2
  return 1
}
