# shellcheck shell=bash disable=SC2154 # variables of build.sh
# The platform's sources: unpacked, without what cannot be built, patched; and where they lie.

prepare_sources() {
  local tree=$work/sources file
  mkdir "$tree"
  tar --extract --file "$downloads"/debian/*.orig.tar.xz --directory "$tree" --strip-components=1
  tar --extract --file "$downloads"/debian/*.debian.tar.xz --directory "$tree"
  cd "$tree" || return

  # Debian's own patches that this build needs as well
  for file in debian/patches/{remove-apple-awt-api,fix-platform-util-compilation,java17-compatibility}.patch; do
    patch --strip=1 --input="$file"
  done
  for file in "$recipe"/patches/*.patch; do
    patch --strip=1 --fuzz=0 --input="$file"
  done

  local impl=platform/platform-impl/src/com/intellij
  # macOS only, with classes of Apple's Java
  rm "$impl"/ui/mac/MacMainFrameDecorator.java "$impl"/ui/mac/MacGestureSupportFor*.java
  # needs jediterm, a terminal emulator that is in no public package registry
  rm -r "$impl/terminal"
  # needs JavaFX
  rm -r "$impl/ui/javafx"
  # belongs to external build systems
  rm platform/analysis-impl/src/com/intellij/profile/codeInspection/InspectionsProfileConfigurationHandler.kt

  # The module descriptions give these folders a package prefix, which the Kotlin compiler does not know.
  add_package_prefix platform/configuration-store-impl/src com/intellij/configurationStore
  add_package_prefix platform/credential-store/src com/intellij/credentialStore
}

# add_package_prefix FOLDER PACKAGE_PATH
add_package_prefix() {
  mv "$1" "$1.unprefixed"
  mkdir -p "$1/$(dirname "$2")"
  mv "$1.unprefixed" "$1/$2"
}

# The folders that hold the modules' sources and resources, one a line.
source_roots() {
  local module folder
  while read -r module; do
    for folder in src gen resources compatibilityResources; do
      [[ ! -d $work/sources/$module/$folder ]] || echo "$work/sources/$module/$folder"
    done
  done < <(grep -E '^[a-zA-Z]' "$recipe/modules.txt")
}

# sources ENDING: the modules' files with that ending, one a line.
sources() {
  local roots
  mapfile -t roots < <(source_roots)
  find "${roots[@]}" -name "*.$1" | sort
}
