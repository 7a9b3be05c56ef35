// Serves the API of a model on this machine.

import http from 'node:http';
import { once } from 'node:events';

/**
 * Starts a server that calls `handle(request, body, response)`, and returns its address. `defer`
 * registers its end, at which open requests end as well.
 */
export async function serveModel(defer, handle) {
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    await handle(request, body, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${server.address().port}`;
}
