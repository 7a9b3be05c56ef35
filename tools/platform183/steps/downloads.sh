# shellcheck shell=bash disable=SC2154 # variables of build.sh
# What comes from elsewhere: Debian packages by apt, with lists and caches of our own; Maven artifacts by Maven.

readonly DEBIAN_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
readonly DEBIAN_SUITE=bookworm
readonly DEBIAN_SOURCE=intellij-community-idea=183.5153.4-3
# JDOM as JetBrains changed it; the others are in no Maven repository.
readonly DEBIAN_LIBRARIES=(
  libjdom2-intellij-java
  libintellij-java-compatibility-java
  libmicroba-java
  libautomaton-java
)

fetch_debian_packages() {
  local kept=$downloads/debian wanted="$DEBIAN_SOURCE ${DEBIAN_LIBRARIES[*]}" package
  if [[ ! -e $kept/complete || $(<"$kept/complete") != "$wanted" ]]; then
    rm -rf "$kept"
    mkdir "$kept"
    configure_apt
    apt_get update
    (
      cd "$kept" || return
      apt_get source --download-only "$DEBIAN_SOURCE"
      apt_get download "${DEBIAN_LIBRARIES[@]}"
    )
    echo "$wanted" >"$kept/complete"
  fi
  for package in "$kept"/*.deb; do
    dpkg-deb --extract "$package" "$work/debian"
  done
  mkdir -p "$work/jars/lib"
  find "$work/debian/usr/share/java" -type f -name '*.jar' -exec mv -t "$work/jars/lib" {} +
}

apt_get() {
  apt-get --quiet --config-file "$work/apt/apt.conf" "$@"
}

# Lets apt-get serve an ordinary user and leave the system's state alone, with the system's proxies and the like.
configure_apt() {
  local apt=$work/apt mirror kind
  mirror=${DEBIAN_MIRROR:-$(debian_mirror)}
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  touch "$apt/status"
  for kind in deb deb-src; do
    echo "$kind [signed-by=$DEBIAN_KEYS] $mirror $DEBIAN_SUITE main"
  done >"$apt/sources.list"
  cat >"$apt/apt.conf" <<END
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "-";
Dir::State "$apt";
Dir::State::Lists "$apt/lists";
Dir::State::Status "$apt/status";
Dir::Cache "$apt/cache";
// Root may read the folder above, the user _apt perhaps not.
APT::Sandbox::User "";
// The machine's hooks clean or feed caches of the system.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
}

# The mirror that this machine uses for Debian: known by its origin, or, as long as apt has no lists (as in a fresh
# container), by the release that the sources name. On Ubuntu, the default of python-apt-common.
debian_mirror() {
  local mirror info templates=/usr/share/python-apt/templates/Debian.info
  # shellcheck disable=SC2016 # apt's placeholders
  mirror=$(
    for info in --release-info --no-release-info; do
      apt-get indextargets "$info" --format '$(ORIGIN)|$(LABEL)|$(RELEASE)|$(COMPONENT)|$(SITE)' 'Created-By: Packages'
    done | awk -F'|' -v suite="$DEBIAN_SUITE" '
      ($1 == "Debian" && $2 == "Debian") || ($3 == suite && $4 == "main") { sites[++count] = $5 }
      END { print sites[1] }'
  )
  if [[ -z $mirror && -e $templates ]]; then
    mirror=$(awk '/^BaseURI:/ { print $2; exit }' "$templates")
  fi
  if [[ -z $mirror ]]; then
    echo 'error: apt here knows no mirror of Debian; name one in DEBIAN_MIRROR' >&2
    return 1
  fi
  echo "$mirror"
}

# The lines of artifacts.txt: scope and coordinates.
artifacts() {
  grep -E '^[a-z]' "$recipe/artifacts.txt"
}

# Puts the artifacts into a folder for each scope.
fetch_maven_artifacts() {
  local scope group artifact version
  mkdir -p "$work/maven"
  {
    cat <<'END'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>platform183</groupId><artifactId>artifacts</artifactId><version>1</version><packaging>pom</packaging>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.6.0</version>
    <configuration><artifactItems>
END
    while IFS=' :' read -r scope group artifact version; do
      printf '<artifactItem><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>' \
        "$group" "$artifact" "$version"
      printf '<outputDirectory>%s</outputDirectory></artifactItem>\n' "$work/jars/$scope"
    done < <(artifacts)
    echo '</artifactItems></configuration></plugin></plugins></build></project>'
  } >"$work/maven/pom.xml"
  mvn --batch-mode --no-transfer-progress --file "$work/maven/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy
}
