// Runs an npm registry (Verdaccio) on this machine. COMPANION_NPM is a folder with the packed
// packages. COMPANION_XTASK publishes them in the same way as to npm.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { run } from './doctor.mjs';
import { closedPort } from './http.mjs';
import { until } from './inbox.mjs';

const { COMPANION_NPM: PACKAGES, COMPANION_XTASK: XTASK } = process.env;
const VERDACCIO = new URL('../npm-tests/node_modules/.bin/verdaccio', import.meta.url);

export class Registry {
  /** Its URL for npm. */
  url;
  /** The folder of its tarballs. */
  tarballs;

  /** Starts an empty registry, until the sandbox ends. */
  static async start(sandbox) {
    const registry = new Registry();
    const storage = sandbox.folder('registry');
    registry.tarballs = path.join(storage, 'gemini-companion');
    registry.url = `http://127.0.0.1:${await closedPort()}/`;
    const config = path.join(storage, 'config.yaml');
    // The file is YAML, so JSON is valid. Without `uplinks` the registry uses no other registry.
    const packages = { '**': { access: '$all', publish: '$all' } };
    const log = { type: 'stdout', format: 'pretty', level: 'error' };
    fs.writeFileSync(
      config,
      JSON.stringify({ storage, packages, log, max_body_size: '1gb', web: { enable: false } }),
    );
    const args = [fileURLToPath(VERDACCIO), '--config', config, '--listen', registry.url];
    const stdio = ['ignore', 'pipe', 'pipe'];
    const server = spawn(process.execPath, args, { env: sandbox.env(), stdio });
    let said = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (data) => (said += data));
    sandbox.deferKill(() => server.kill('SIGKILL'));
    sandbox.defer(() => server.kill('SIGKILL'));
    await until('the start of the registry', async () => {
      if (server.exitCode !== null) throw new Error(`the registry has ended: ${said}`);
      return fetch(`${registry.url}-/ping`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    return registry;
  }

  /** Starts a registry with the packages. */
  static async withPackages(sandbox) {
    const registry = await Registry.start(sandbox);
    const { code, stderr } = await registry.publish(sandbox);
    if (code !== 0) throw new Error(stderr);
    return registry;
  }

  /** Publishes the packages in a folder. */
  publish(sandbox, folder = PACKAGES) {
    const args = ['npm-publish', '--packages', folder];
    return run(sandbox, args, { env: this.env(sandbox), program: XTASK });
  }

  /** Returns the variables with the registry and separate folders for npm. */
  env(sandbox) {
    return {
      npm_config_registry: this.url,
      // npm publishes nothing without a token.
      [`npm_config_${this.url.slice('http:'.length)}:_authToken`]: 'nobody',
      npm_config_prefix: sandbox.folder('npm of the user'),
      npm_config_cache: sandbox.folder('cache of npm'),
      npm_config_update_notifier: 'false',
      npm_config_fund: 'false',
      npm_config_audit: 'false',
      npm_config_fetch_retries: '0',
    };
  }
}
