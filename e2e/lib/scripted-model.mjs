// Runs a scripted model on this machine, with OpenAI's API.

import { randomUUID } from 'node:crypto';

import { serveModel } from './model-server.mjs';

/** Returns the model's answer in one chunk, with the end mark. */
function choices(step) {
  if (typeof step === 'string') return [{ delta: { content: step } }, stop('stop')];
  const { name, args } = step;
  const call = { index: 0, id: `${name}-${randomUUID()}`, type: 'function' };
  const tool_calls = [{ ...call, function: { name, arguments: JSON.stringify(args) } }];
  return [{ delta: { tool_calls } }, stop('tool_calls')];
}

/** Returns the text of a result, in one part or several. */
export const text = (content) =>
  typeof content === 'string' ? content : content.map((part) => part.text).join('');

const stop = (finish_reason) => ({ delta: {}, finish_reason });

/** Sends a step as the model's answer. */
export function answer(step, response) {
  const about = { id: 'reply', object: 'chat.completion.chunk', created: 0, model: 'script' };
  const events = choices(step).map((choice) =>
    JSON.stringify({ ...about, choices: [{ index: 0, ...choice }] }),
  );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end([...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
}

/**
 * Starts a model, and returns its address. `steps` are its answers in order: a text, a tool's
 * `{name, args}`, or a function that returns one of these later. It finds the current step by the tool results and its texts in the
 * conversation. It stores these results in `results`, and the user's messages in `asked`.
 */
export async function startModel(sandbox, steps, results = [], asked = []) {
  const defer = (end) => sandbox.defer(end);
  const address = await serveModel(defer, async (_request, body, response) => {
    const said = (by) => JSON.parse(body).messages.filter(({ role }) => role === by);
    const parts = said('tool');
    results.splice(0, results.length, ...parts.map(({ content }) => text(content)));
    asked.splice(0, asked.length, ...said('user').map(({ content }) => text(content)));
    const texts = said('assistant').filter(({ content }) => content && steps.includes(text(content)));
    const step = steps[parts.length + texts.length] ?? '';
    answer(typeof step === 'function' ? await step() : step, response);
  });
  return `${address}/v1`;
}
