// platform/core-api/src/com/intellij/openapi/application/ModalityState.java, nonModal: called in 2023 by
// plugins/terminal/src/org/jetbrains/plugins/terminal/exp/TerminalEventDispatcher.kt
package com.intellij.openapi.application;

import org.jetbrains.annotations.NotNull;

public abstract class ModalityState {
  /** For the robot, which also runs on 2018.3. */
  public static final @NotNull ModalityState NON_MODAL = null;

  public static native @NotNull ModalityState nonModal();

  public static native @NotNull ModalityState any();
}
