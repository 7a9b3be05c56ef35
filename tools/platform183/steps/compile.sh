# shellcheck shell=bash disable=SC2154 # variables of build.sh
# From sources to classes: Kotlin first, which reads the Java sources; then Java; then the GUI designer's forms.

# Compilers live for a minute: the quick compiler alone and one thread that collects garbage take the least time in all.
readonly JAVA_OPTIONS=(-Xmx2g -Xss8m -XX:+UseSerialGC -XX:TieredStopAtLevel=1)

compile_kotlin() {
  local files roots
  mapfile -t files < <(sources kt)
  mapfile -t roots < <(source_roots)
  kotlinc -module-name platform183 -classpath "$(class_path lib compile)" -d "$work/classes" "${files[@]}" "${roots[@]}"
}

compile_java() {
  sources java >"$work/java-files"
  javac -classpath "$work/classes:$(class_path lib compile)" -d "$work/classes" "@$work/java-files"
}

# Builds the platform's own forms compiler and lets it add the code of each form to its class.
compile_forms() {
  local compiler=$work/forms-compiler module path roots
  mkdir "$compiler"
  for module in forms-compiler instrumentation-util instrumentation-util-8; do
    cp -r "$work/sources/java/compiler/$module/src/." "$compiler"
  done
  # Instruments @NotNull, which is not needed for forms
  rm -r "$compiler/com/intellij/compiler/notNullVerification"
  # The sources name JetBrains' copy of ASM; the original, in a version that reads the classes of Java 17, will do.
  find "$compiler" -name '*.java' -exec \
    sed -i 's/org\.jetbrains\.org\.objectweb/org.objectweb/g; s/Opcodes\.API_VERSION/Opcodes.ASM9/g' {} +
  path="$work/classes:$(class_path lib compile tool)"
  find "$compiler" "$recipe/java/FormsCompiler.java" -name '*.java' >"$work/forms-compiler-files"
  javac -classpath "$path" -d "$compiler" "@$work/forms-compiler-files"
  mapfile -t roots < <(source_roots)
  "$jdk/bin/java" "${JAVA_OPTIONS[@]}" -classpath "$compiler:$path" FormsCompiler \
    "$work/classes" "$(class_path lib compile)" "${roots[@]}"
}

# Without the property based part, whose library jetCheck is in no public package registry.
compile_test_framework() {
  local tests=$work/test-framework part junit=com/intellij/rt/execution/junit path files
  mkdir -p "$tests/$junit"
  for part in . core bootstrap; do
    cp -r "$work/sources/platform/testFramework/$part/src/." "$tests"
  done
  rm -r "$tests"/com/intellij/testFramework/{propertyBased,fixtures/InjectionTestFixture.kt}
  cp "$work/sources/java/java-runtime/src/$junit/FileComparisonFailure.java" "$tests/$junit"
  path="$work/classes:$(class_path lib compile test)"
  mapfile -t files < <(find "$tests" -name '*.kt')
  # The framework uses what is internal to the platform's Kotlin code.
  kotlinc -module-name platform183-tests -Xfriend-paths="$work/classes" -classpath "$path" -d "$work/test-classes" \
    "${files[@]}" "$tests"
  find "$tests" -name '*.java' >"$work/test-files"
  javac -classpath "$work/test-classes:$path" -d "$work/test-classes" "@$work/test-files"
  pack "$work/home/test/idea-test.jar" "$work/test-classes"
}

kotlinc() {
  "$jdk/bin/java" "${JAVA_OPTIONS[@]}" -classpath "$(class_path tool)" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler \
    -jdk-home "$jdk" -no-stdlib -no-reflect -nowarn -jvm-target 1.8 \
    -language-version 1.2 -api-version 1.2 -Xcoroutines=enable -Xskip-metadata-version-check "$@"
}

# Source level 8 without --release, because the sources use sun.* of the JDK.
javac() {
  "$jdk/bin/javac" "${JAVA_OPTIONS[@]/#/-J}" -source 8 -target 8 -encoding UTF-8 -g -nowarn -proc:none \
    -XDignore.symbol.file "$@"
}

# class_path SCOPE...: the jars of these scopes.
class_path() {
  local scope jars=()
  for scope in "$@"; do
    jars+=("$work/jars/$scope"/*.jar)
  done
  local IFS=:
  echo "${jars[*]}"
}
