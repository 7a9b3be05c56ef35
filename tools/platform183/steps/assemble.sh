# shellcheck shell=bash disable=SC2154 # variables of build.sh
# From classes to an IDE's folder: resources, icons, jars, launcher; and the proof that it starts.

pack_platform() {
  local resources=$work/resources roots root jar
  mapfile -t roots < <(source_roots)
  mkdir -p "$resources" "$work"/home/{bin,lib,plugins,test}

  # First what is drawn and stands in, so that what the sources do contain wins.
  python3 -B "$recipe/resources/icons.py" "$resources" "${roots[@]}"
  python3 -B "$recipe/resources/placeholders.py" "$resources" "${roots[@]}"
  for root in "${roots[@]}"; do
    tar --create --directory "$root" --exclude={'*.java','*.kt','*.form','*.flex','*.skeleton',.gitattributes} . |
      tar --extract --directory "$resources"
  done
  # Code completion counts the features that were used; their list lies with the product's resources.
  cp "$work/sources/resources/src/ProductivityFeaturesRegistry.xml" "$resources"
  cp "$recipe/resources/ApplicationInfo.xml" "$resources/idea/PlatformLangXmlApplicationInfo.xml"

  cp "$work"/jars/{lib,run}/*.jar "$work/home/lib"
  # Coroutines of 2018 need the experimental part of Kotlin's library, which today's no longer has.
  (
    cd "$work" || return
    "$jdk/bin/jar" --extract --file jars/compile/kotlin-stdlib-1.3.72.jar kotlin/coroutines/experimental
    "$jdk/bin/jar" --create --file home/lib/kotlin-coroutines-experimental.jar kotlin
  )
  pack "$work/home/lib/idea.jar" "$work/classes" "$resources"

  cp "$work"/jars/test/*.jar "$work/home/test"
  cp "$work"/sources/bin/{idea.properties,log.xml} "$work/sources/lib/log4j.dtd" "$work/home/bin"
  cp -r "$recipe/home/." "$work/home"
  chmod +x "$work/home/bin/idea.sh"
  ln -s "$jdk" "$work/home/jdk"
  echo IC-183.5153.4 >"$work/home/build.txt"
}

# pack JAR FOLDER...: the folders' content, and in the manifest all jars that belong to it, so that it alone is enough
# on a class path.
pack() {
  local jar=$1 folder content=()
  shift
  for folder in "$@"; do
    content+=(-C "$folder" .)
  done
  "$jdk/bin/jar" --create --file "$jar" --manifest <(manifest "$jar") "${content[@]}"
}

manifest() {
  local folder file
  folder=$(dirname "$1")
  # Lines are short; one that begins with a space continues the one before.
  printf 'Class-Path: '
  for file in "$folder"/*.jar; do
    printf '\n  %s' "${file##*/}"
  done
  [[ $folder == */lib ]] || printf '\n  ../lib/idea.jar'
  printf '\n'
}

# Starts the platform without a display, with a plugin that uses what our plugin will rely on.
check_platform() {
  local check=$work/check
  mkdir -p "$check"/{classes,plugins/check/lib,project}
  "$jdk/bin/javac" -d "$check/classes" -classpath "$work/home/lib/idea.jar" "$recipe/check/PlatformCheck.java"
  "$jdk/bin/jar" --create --file "$check/plugins/check/lib/check.jar" -C "$check/classes" . -C "$recipe/check" META-INF
  echo '{"a": 1}' >"$check/project/a.json"
  "$work/home/bin/idea.sh" --headless --plugins "$check/plugins" --sandbox "$check/sandbox" check "$check/project"
  if grep ' ERROR ' "$check/sandbox/log/idea.log"; then
    echo 'error: the platform reported errors of its own'
    return 1
  fi
}
