// platform/platform-api/src/com/intellij/openapi/diagnostic/ErrorReportSubmitter.java, consumer of a supertype: 2021
package com.intellij.openapi.diagnostic;

import com.intellij.openapi.extensions.PluginAware;
import com.intellij.openapi.extensions.PluginDescriptor;
import com.intellij.util.Consumer;
import java.awt.Component;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

public abstract class ErrorReportSubmitter implements PluginAware {
  @Override
  public void setPluginDescriptor(PluginDescriptor plugin) {
    throw new AssertionError();
  }

  public abstract @NotNull String getReportActionText();

  public @Nullable String getPrivacyNoticeText() {
    throw new AssertionError();
  }

  public boolean submit(@NotNull IdeaLoggingEvent[] events, @Nullable String additionalInfo,
      @NotNull Component parentComponent, @NotNull Consumer<? super SubmittedReportInfo> consumer) {
    throw new AssertionError();
  }
}
