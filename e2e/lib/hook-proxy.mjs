// A proxy between the hooks of CLIs and the companion that can lose or delay confirmations.

import { once } from 'node:events';
import { pipeline } from 'node:stream';

import { within } from './inbox.mjs';
import { Proxy } from './proxy.mjs';

export class HookProxy extends Proxy {
  /** Whether all further confirmations are lost, as those of a hook that was killed. */
  losesAcks = false;
  #acts = [];

  /** Starts a proxy to the companion of `window`, also to a later one. */
  static async start(window) {
    const proxy = new HookProxy(() => window.companion);
    await proxy.open(window.sandbox);
    return proxy;
  }

  /**
   * Calls `act(forward)` for the next confirmation of a hook, which has the companion's answer by then.
   * `forward()` passes it on, and returns the reply; `act` returns the reply for the hook, or nothing to break
   * the connection.
   */
  onAck(act) {
    const acted = new Promise((resolve, reject) => {
      this.#acts.push((forward) => {
        const reply = Promise.resolve(forward).then(act);
        reply.then(resolve, reject);
        return reply;
      });
    });
    return within(acted, 'the confirmation of a hook');
  }

  relay(reply, response) {
    pipeline(reply, response, () => {}); // the companion may be killed
  }

  async take(request, response) {
    if (request.url !== '/hook') {
      this.pass(request, response);
      return;
    }
    let body = '';
    try {
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
    } catch {
      return; // on a busy machine a hook gives up
    }
    if (body.includes('hook_event_name') || (this.#acts.length === 0 && !this.losesAcks)) {
      this.pass(request, response, body);
      return;
    }
    const act = this.#acts.shift();
    try {
      const reply = await act?.(() => this.#forward(request, body));
      if (!reply) throw new Error('the message is lost');
      response.writeHead(reply.status, reply.headers).end(reply.body);
    } catch {
      request.socket.resetAndDestroy();
    }
  }

  async #forward(request, body) {
    const onward = this.onward(request).end(body);
    const [reply] = await once(onward, 'response');
    let text = '';
    for await (const chunk of reply.setEncoding('utf8')) text += chunk;
    return { status: reply.statusCode, headers: reply.headers, body: text };
  }
}
