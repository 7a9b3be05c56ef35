// A proxy between the hooks of CLIs and the companion that can lose or delay single messages.

import { once } from 'node:events';
import { pipeline } from 'node:stream';

import { within } from './inbox.mjs';
import { Proxy } from './proxy.mjs';

const isEvent = (body) => body.includes('hook_event_name');

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
   * Calls `act(forward)` for the next event of a hook. `forward()` passes it on, and returns the
   * reply; `act` returns the reply for the hook, or nothing to break the connection.
   */
  onEvent(act) {
    return this.#on(isEvent, act);
  }

  /** The same for the next confirmation of a hook, which has the companion's answer by then. */
  onAck(act) {
    return this.#on((body) => !isEvent(body), act);
  }

  /** Passes all further messages on. */
  clear() {
    this.#acts = [];
    this.losesAcks = false;
  }

  #on(matches, act) {
    const acted = new Promise((resolve, reject) => {
      const and = async (forward) => {
        const reply = Promise.resolve(forward).then(act);
        reply.then(resolve, reject);
        return reply;
      };
      this.#acts.push({ matches, act: and });
    });
    return within(acted, 'a message of a hook');
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
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const index = this.#acts.findIndex(({ matches }) => matches(body));
    const isLost = this.losesAcks && !isEvent(body);
    if (index < 0 && !isLost) {
      this.pass(request, response, body);
      return;
    }
    const [{ act }] = index < 0 ? [{ act: () => undefined }] : this.#acts.splice(index, 1);
    try {
      const reply = await act(() => this.#forward(request, body));
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
