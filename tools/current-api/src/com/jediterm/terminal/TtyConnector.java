// core/src/com/jediterm/terminal/TtyConnector.java of JetBrains/jediterm, 3.0
package com.jediterm.terminal;

import java.io.IOException;

public interface TtyConnector {
  void write(String string) throws IOException;
}
