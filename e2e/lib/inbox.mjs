// Stores messages until a test asks for them, and waits for conditions.

import { setTimeout as sleep } from 'node:timers/promises';

/** Maximum wait of a test, in ms. A busy machine needs far less. */
export const WAIT_TIMEOUT = 60_000;

export class Inbox {
  #name;
  #patience;
  #messages = [];
  #waiting = [];
  #ended;

  /** Errors contain `name`. A wait takes up to `patience` ms. */
  constructor(name, patience = WAIT_TIMEOUT) {
    this.#name = name;
    this.#patience = patience;
  }

  push(message) {
    const index = this.#waiting.findIndex(({ matches }) => matches(message));
    if (index === -1) this.#messages.push(message);
    else this.#waiting.splice(index, 1)[0].resolve(message);
  }

  /** Fails all waits with `error`: no more messages will arrive. */
  end(error) {
    this.#ended ??= error;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(this.#ended);
  }

  /** Takes the oldest message that matches; the others stay. */
  next(matches = () => true) {
    const index = this.#messages.findIndex(matches);
    if (index !== -1) return Promise.resolve(this.#messages.splice(index, 1)[0]);
    if (this.#ended) return Promise.reject(this.#ended);
    return within(
      new Promise((resolve, reject) => this.#waiting.push({ matches, resolve, reject })),
      this.#name,
      this.#patience,
    );
  }

  /** Takes the oldest message that matches, and drops all older ones. */
  async until(matches) {
    for (;;) {
      const message = await this.next();
      if (matches(message)) return message;
    }
  }

  /** Takes all messages. */
  takeAll() {
    return this.#messages.splice(0);
  }
}

/** Waits for `promise`, or fails with `what` after the maximum wait. */
export function within(promise, what, patience = WAIT_TIMEOUT) {
  const error = new Error(`nothing came in ${patience / 1000} s: ${what}`);
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(error), patience).unref();
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Polls until `condition()` is true, and returns its value. `what` is the awaited event, or a
 * function that describes what there is instead.
 */
export async function until(what, condition, interval = 20) {
  const deadline = Date.now() + WAIT_TIMEOUT;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > deadline) {
      const missing = typeof what === 'function' ? what() : what;
      throw new Error(`in vain for ${WAIT_TIMEOUT / 1000} s: ${missing}`);
    }
    await sleep(interval);
  }
}
