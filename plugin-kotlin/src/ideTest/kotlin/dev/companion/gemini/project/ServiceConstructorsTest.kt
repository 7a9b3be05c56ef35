// Tests that the platform's container has no choice among the constructors of a service.

package dev.companion.gemini.project

import junit.framework.TestCase

class ServiceConstructorsTest : TestCase() {
    fun testAServiceHasOnePublicConstructor() {
        val registered = checkNotNull(javaClass.getResource("/META-INF/companion.xml")).readText()
        val services = Regex(
            "serviceImplementation=\"([^\"]+)\"",
        ).findAll(registered).map { it.groupValues[1] }.toList()
        assertTrue("$services", services.size > 5)
        for (service in services) assertEquals(service, 1, Class.forName(service).constructors.size)
    }
}
