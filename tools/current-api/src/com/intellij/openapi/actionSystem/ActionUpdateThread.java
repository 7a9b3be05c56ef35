// platform/editor-ui-api/src/com/intellij/openapi/actionSystem/ActionUpdateThread.java, 2022.1
package com.intellij.openapi.actionSystem;

public enum ActionUpdateThread {
  BGT, EDT
}
