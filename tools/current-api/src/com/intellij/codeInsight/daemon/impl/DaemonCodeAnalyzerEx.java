// platform/analysis-impl/src/com/intellij/codeInsight/daemon/impl/DaemonCodeAnalyzerEx.java, isHighlightingCompleted: 2024.1
package com.intellij.codeInsight.daemon.impl;

import com.intellij.codeInsight.daemon.DaemonCodeAnalyzer;
import com.intellij.lang.annotation.HighlightSeverity;
import com.intellij.openapi.editor.Document;
import com.intellij.openapi.fileEditor.FileEditor;
import com.intellij.openapi.project.Project;
import com.intellij.psi.PsiFile;
import com.intellij.util.Processor;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public abstract class DaemonCodeAnalyzerEx extends DaemonCodeAnalyzer {
  public static DaemonCodeAnalyzerEx getInstanceEx(Project project) {
    throw new AssertionError();
  }

  public static boolean isHighlightingCompleted(@NotNull FileEditor fileEditor, @NotNull Project project) {
    throw new AssertionError();
  }

  public static boolean processHighlights(
      @NotNull Document document,
      @NotNull Project project,
      @Nullable HighlightSeverity minSeverity,
      int startOffset,
      int endOffset,
      @NotNull Processor<? super HighlightInfo> processor) {
    throw new AssertionError();
  }

  public abstract boolean isErrorAnalyzingFinished(@NotNull PsiFile file);
}
