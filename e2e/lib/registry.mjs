// Owns a registry for npm on this machine: one package in all its versions, as they were packed.

import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

export class Registry {
  /** Where npm finds it. */
  url;

  /** What the tarballs in a folder say of themselves: `{versions, tarballs}`, by version and file. */
  static read(folder) {
    const versions = {};
    const tarballs = {};
    for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.tgz'))) {
      const tarball = path.join(folder, file);
      const { stdout } = spawnSync('tar', ['-xOf', tarball, 'package/package.json']);
      const manifest = JSON.parse(stdout);
      tarballs[file] = fs.readFileSync(tarball);
      const hash = crypto.createHash('sha512').update(tarballs[file]).digest('base64');
      versions[manifest.version] = { ...manifest, dist: { file, integrity: `sha512-${hash}` } };
    }
    return { versions, tarballs };
  }

  /** Serves them until the sandbox ends. */
  static async serve(sandbox, { versions, tarballs }) {
    const registry = new Registry();
    const server = http.createServer((request, reply) => {
      const name = path.basename(new URL(request.url, registry.url).pathname);
      if (name in tarballs) return reply.end(tarballs[name]);
      if (name !== 'gemini-companion') return reply.writeHead(404).end('{}');
      const latest = Object.keys(versions).find((version) => !version.includes('-'));
      reply.setHeader('content-type', 'application/json');
      return reply.end(JSON.stringify({ name, 'dist-tags': { latest }, versions }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    sandbox.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    registry.url = `http://127.0.0.1:${server.address().port}/`;
    for (const { dist } of Object.values(versions)) dist.tarball = `${registry.url}${dist.file}`;
    return registry;
  }

  /** What npm has to know of it, and of folders of its own. */
  env(sandbox) {
    return {
      npm_config_registry: this.url,
      npm_config_prefix: sandbox.folder('npm of the user'),
      npm_config_cache: sandbox.folder('cache of npm'),
      npm_config_update_notifier: 'false',
      npm_config_fund: 'false',
      npm_config_audit: 'false',
      npm_config_fetch_retries: '0',
    };
  }
}
