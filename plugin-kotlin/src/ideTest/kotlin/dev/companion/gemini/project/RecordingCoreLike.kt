// Owns a base for doubles of a server that do one thing in another way.

package dev.companion.gemini.project

import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.CompanionCore

open class RecordingCoreLike(val recording: RecordingCore) : CompanionCore by recording
