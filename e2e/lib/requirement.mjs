// Decides what a test does without something that it needs.

/**
 * Returns the reason to skip a test that lacks something, or false if nothing is `missing`. CI has all
 * that tests need, so there it throws an error.
 */
export function skipWithout(missing) {
  if (missing && process.env.CI === 'true') throw new Error(`CI lacks something: ${missing}`);
  return missing || false;
}
