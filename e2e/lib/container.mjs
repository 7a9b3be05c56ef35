// Owns whether the tests themselves run in a container, by the client's own signs.

import fs from 'node:fs';

export const inContainer = ['/.dockerenv', '/run/.containerenv'].some((mark) => fs.existsSync(mark));
