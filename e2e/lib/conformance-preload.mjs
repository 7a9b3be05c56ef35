// Adds the token, and functions that Node 20 lacks, to the conformance runner.

import { register } from 'node:module';

const { CONFORMANCE_URL: url, CONFORMANCE_TOKEN: token } = process.env;

const plainFetch = globalThis.fetch;
globalThis.fetch = (input, init = {}) => {
  const request = new Request(input, init);
  if (request.url === url) request.headers.set('authorization', `Bearer ${token}`);
  return plainFetch(request);
};
// The runner imports `fs.globSync` of Node 22 for a command that these tests do not use.
const hooks = `
  export async function resolve(name, context, next) {
    return name === 'fs' ? { url: 'glob:fs', shortCircuit: true } : next(name, context);
  }
  export async function load(url, context, next) {
    if (url !== 'glob:fs') return next(url, context);
    const source = "export * from 'node:fs'; export const globSync = undefined;";
    return { format: 'module', shortCircuit: true, source };
  }
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
