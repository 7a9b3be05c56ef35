// Runs a hook as a child of this process, which counts as its CLI.

import { spawn } from 'node:child_process';

/** Runs the hook below a shell, as the CLIs do. Returns `{code, stdout, stderr}`. */
export function runHook(program, moment, input, env) {
  const command = '"$0" hook "$1"; exit $?';
  const child = spawn('sh', ['-c', command, program, moment], { env: { ...process.env, ...env } });
  const output = { stdout: '', stderr: '' };
  for (const name of Object.keys(output)) {
    child[name].setEncoding('utf8').on('data', (text) => (output[name] += text));
  }
  child.stdin.on('error', () => {}); // it may exit before it has read everything
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code: code ?? signal, ...output }));
  });
}
