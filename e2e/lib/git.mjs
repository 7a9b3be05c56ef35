// Finds out whether Git is there for the tests of repositories.

import { spawnSync } from 'node:child_process';

import { skipWithout } from './requirement.mjs';

export const noGit = skipWithout(spawnSync('git', ['--version']).status !== 0 && 'git is not installed');
