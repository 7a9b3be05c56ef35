// platform/ide-core/src/com/intellij/notification/NotificationGroupManager.java, 2020.3
package com.intellij.notification;

import org.jetbrains.annotations.NotNull;

public interface NotificationGroupManager {
  static NotificationGroupManager getInstance() {
    throw new AssertionError();
  }

  NotificationGroup getNotificationGroup(@NotNull String groupId);
}
