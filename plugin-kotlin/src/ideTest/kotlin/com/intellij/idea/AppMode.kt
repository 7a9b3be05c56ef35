// Stands in for a class of today's platform.

package com.intellij.idea

object AppMode {
    @JvmStatic
    var isRemoteDevHost = false
}
