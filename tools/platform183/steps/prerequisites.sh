# shellcheck shell=bash
# The JDK. What else the machine has to have, `cargo xtask` has looked for (rust/xtask/src/needs.rs).

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
