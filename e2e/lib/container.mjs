// Detects whether the tests themselves run in a container, by the client's own checks.

import fs from 'node:fs';

export const inContainer = ['/.dockerenv', '/run/.containerenv'].some((mark) => fs.existsSync(mark));
