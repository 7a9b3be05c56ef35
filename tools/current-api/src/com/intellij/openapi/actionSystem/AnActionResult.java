// platform/editor-ui-api/src/com/intellij/openapi/actionSystem/AnActionResult.java: 2021.3
package com.intellij.openapi.actionSystem;

public abstract class AnActionResult {
  private AnActionResult() {
  }
}
