// Finds problems in the log of an IDE.

/**
 * Harmless errors of the platform of 2018.3: one reports the source of many events, the other a new
 * window that got the focus late on a busy machine.
 */
const HARMLESS = /FrequentEventDetector|TimedOutCallback/;

const ROBOT = /dev\.companion\.gemini\.robot/g;
const PLUGIN = /dev\.companion\.gemini|Companion for Gemini CLI/;

/** Today's platform logs an error as SEVERE, that of 2018.3 as ERROR or FATAL. */
const isError = (record) => /^\S+ \S+ \[[^\]]*\] +(ERROR|FATAL|SEVERE) +- /.test(record);
const hasStack = (record) => /^\s+at \S+\(/m.test(record);
const isOfPlugin = (record) => PLUGIN.test(record.replaceAll(ROBOT, ''));

const records = (log) => log.split(/^(?=\d{4}-\d\d-\d\d )/m);

/**
 * Returns the errors and exceptions. An installed IDE has plugins with errors of their own, so there
 * only records count that name our plugin.
 */
export function problemsIn(log, isInstalled) {
  const counts = isInstalled ? isOfPlugin : (record) => !HARMLESS.test(record);
  return records(log).filter((record) => (isError(record) || hasStack(record)) && counts(record));
}

/** Returns the other errors in the log of an installed IDE. */
export const otherErrorsIn = (log) =>
  records(log).filter((record) => isError(record) && !isOfPlugin(record));
