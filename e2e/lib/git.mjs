// Makes a Git repository, if Git is there.

import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';

import { skipWithout } from './requirement.mjs';
import { Sandbox } from './sandbox.mjs';

export const noGit = skipWithout(spawnSync('git', ['--version']).status !== 0 && 'git is not installed');

/** A repository in the project, with a commit. */
export function repository(t) {
  const sandbox = Sandbox.of(t);
  const git = (...args) =>
    execFileSync('git', ['-C', sandbox.project, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      env: sandbox.env({ GIT_CONFIG_GLOBAL: '/dev/null' }),
      stdio: 'pipe',
    });
  git('init', '--quiet');
  sandbox.file('a.txt', 'old');
  git('add', 'a.txt');
  git('commit', '--quiet', '--message', 'a');
  /** Adds a worktree, and returns its folder. */
  const add = (name) => {
    const folder = path.join(sandbox.root, name);
    git('worktree', 'add', '--quiet', folder);
    return folder;
  };
  return { sandbox, git, add };
}
