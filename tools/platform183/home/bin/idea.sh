#!/usr/bin/env bash
# Starts this platform with plugins and settings of its own. The process becomes java, so its end is the IDE's end.
#
# usage: idea.sh [OPTION]... PROJECT                 with windows, on $DISPLAY
#        idea.sh --headless [OPTION]... COMMAND ...  an application starter, without a display
#   --sandbox DIR   where settings, caches and the log (log/idea.log) are kept
#   --plugins DIR   a folder of plugins, each NAME/lib/*.jar
#   --java ARG      an argument for java; may be repeated
set -euo pipefail

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sandbox=
java=()

while (($#)); do
  case $1 in
    --headless) java+=(-Djava.awt.headless=true); shift ;;
    --sandbox) sandbox=$(realpath --canonicalize-missing "$2"); shift 2 ;;
    --plugins) java+=("-Didea.plugins.path=$(realpath "$2")"); shift 2 ;;
    --java) java+=("$2"); shift 2 ;;
    *) break ;;
  esac
done
if [[ -z $sandbox || $# == 0 || $1 == --* ]]; then
  sed -n '4,8s/^# //p' "$0" >&2
  exit 2
fi

# Settings for the first start; later ones are the user's.
mkdir -p "$sandbox/config" "$sandbox/log"
cp --recursive --no-clobber "$home/config/." "$sandbox/config"

java=(
  "@$home/bin/jdk17.args" -Xmx1500m -Dfile.encoding=UTF-8
  -Didea.platform.prefix=PlatformLangXml -Didea.filewatcher.disabled=true -Dnosplash=true
  "-Didea.config.path=$sandbox/config" "-Didea.system.path=$sandbox/system" "-Didea.log.path=$sandbox/log"
  "-Djava.util.prefs.userRoot=$sandbox"
  # JetBrains' products ask for consent to their privacy policy and to statistics; this one sends no statistics.
  -Didea.suppress.statistics.report=true
  -Djb.consents.confirmation.enabled=false '-Djb.privacy.policy.text=<!--999.999-->'
  "${java[@]}"
)
exec "$home/jdk/bin/java" "${java[@]}" -classpath "$home/lib/idea.jar" com.intellij.idea.Main "$@"
