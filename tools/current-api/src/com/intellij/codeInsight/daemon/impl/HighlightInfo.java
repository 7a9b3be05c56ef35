// platform/analysis-impl/src/com/intellij/codeInsight/daemon/impl/HighlightInfo.java, getInspectionToolId: 2021
package com.intellij.codeInsight.daemon.impl;

import com.intellij.lang.annotation.HighlightSeverity;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public class HighlightInfo {
  public int getActualStartOffset() {
    throw new AssertionError();
  }

  public int getActualEndOffset() {
    throw new AssertionError();
  }

  public String getDescription() {
    throw new AssertionError();
  }

  public @NotNull HighlightSeverity getSeverity() {
    throw new AssertionError();
  }

  public @Nullable String getInspectionToolId() {
    throw new AssertionError();
  }
}
