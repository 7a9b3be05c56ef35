// Owns what today's platform has in this place.

package com.intellij.idea

object AppMode {
    @JvmStatic
    var isRemoteDevHost = false
}
