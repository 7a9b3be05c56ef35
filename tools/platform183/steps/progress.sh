# shellcheck shell=bash disable=SC2154 # variables of build.sh
# How a build shows itself: a line when a step begins, with what it takes on two cores, and one when it has ended, since
# others print meanwhile; all its output in a log, the end of that log if it fails.

steps_total=$(grep -c '^step ' "$recipe/build.sh")
step_number=0
step_log=

# For the report of a failure: bash runs the trap while the output of the step still goes to its log.
exec {terminal}>&2

# step SECONDS DESCRIPTION FUNCTION
step() {
  local begun=$SECONDS
  step_number=$((step_number + 1))
  step_log=$logs/$step_number-$3.log
  printf '[%d/%d] %s: about %d s\n' "$step_number" "$steps_total" "$2" "$1"
  "$3" >"$step_log" 2>&1
  printf '[%d/%d] done in %d s\n' "$step_number" "$steps_total" $((SECONDS - begun))
}

# Not called by `step`: bash ignores `set -e` in a function whose status somebody looks at.
report_failure() {
  if (($1 == 130 || $1 == 143)); then # 128 + SIGINT or SIGTERM
    printf 'interrupted\n'
    return
  fi
  printf 'failed\n\n'
  # The first errors of a compiler say more than its last lines.
  grep --extended-regexp --max-count=10 '(^|: )error: ' "$step_log" || tail --lines=20 "$step_log"
  printf '\nThe whole output is in %s\n' "$step_log"
} >&"$terminal"

# The number of lines of a text, for people: 14,022.
count() {
  local lines
  lines=$(grep -c . <<<"$1" || true)
  sed -E ':again; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; t again' <<<"$lines"
}
