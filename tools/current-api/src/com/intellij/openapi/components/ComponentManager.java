// platform/extensions/src/com/intellij/openapi/components/ComponentManager.java, getService: 2019.3
package com.intellij.openapi.components;

import com.intellij.openapi.Disposable;
import com.intellij.openapi.util.Condition;
import com.intellij.openapi.util.UserDataHolder;
import com.intellij.util.messages.MessageBus;
import org.jetbrains.annotations.NotNull;

public interface ComponentManager extends UserDataHolder, Disposable {
  <T> T getService(@NotNull Class<T> serviceClass);

  @NotNull MessageBus getMessageBus();

  boolean isDisposed();

  @NotNull Condition<?> getDisposed();
}
