#!/usr/bin/env bash
# Builds the IntelliJ Platform 2018.3: the steps in their order, and that the result appears whole or not at all.
#   build.sh HOME     HOME is the folder to make; downloads and the lock are kept beside it
# JAVA_HOME may name a JDK from 17 to 21, DEBIAN_MIRROR a mirror of Debian; by default both are found.
set -euo pipefail

recipe=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in "$recipe"/steps/*.sh; do
  # shellcheck source=/dev/null
  source "$part"
done

home=${1:?usage: build.sh HOME}
cache=$(dirname "$home")
downloads=$cache/platform183-downloads
work=$home.work
logs=$work/logs

jdk=$(find_jdk)
export JAVA_HOME=$jdk

# All processes of a build inherit the lock: should only the outermost be killed, the next build waits for the others.
mkdir -p "$cache"
exec 9>"$cache/platform183.lock"
if ! flock --nonblock 9; then
  echo 'waiting for another build of the platform'
  flock 9
fi
[[ ! -d $home ]] || exit 0

rm -rf "$cache"/platform183-*.work
mkdir -p "$downloads" "$work" "$logs"
echo "building the IntelliJ Platform 2018.3 into $home"
trap 'report_failure $?' EXIT
trap 'exit 143' TERM

step 10 'fetching Debian packages' fetch_debian_packages
step 40 "fetching $(count "$(artifacts)") Maven artifacts" fetch_maven_artifacts
step 3 'unpacking and patching the sources' prepare_sources
step 100 "compiling $(count "$(sources kt)") Kotlin files" compile_kotlin
step 110 "compiling $(count "$(sources java)") Java files" compile_java
step 3 "compiling $(count "$(sources form)") forms" compile_forms
step 7 'packing classes, resources and drawn icons' pack_platform
step 10 'compiling the test framework' compile_test_framework
step 8 'starting the platform once' check_platform

mv "$work/home" "$home"
trap - EXIT
# 60,000 files: on some disks that takes minutes, for which nobody has to wait but the next build.
rm -rf "$work" >/dev/null 2>&1 {terminal}>&- &
echo "built in $((SECONDS / 60)) min $((SECONDS % 60)) s"
