// Owns a model on this machine: it speaks OpenAI's API, and says what a script has it say.

import http from 'node:http';
import { once } from 'node:events';

/** What the model says in one piece, and that this is all. */
function choices(step) {
  if (typeof step === 'string') return [{ delta: { content: step } }, stop('stop')];
  const { name, args } = step;
  const call = { index: 0, id: name, type: 'function' };
  const tool_calls = [{ ...call, function: { name, arguments: JSON.stringify(args) } }];
  return [{ delta: { tool_calls } }, stop('tool_calls')];
}

/** What a result says, in one piece or in several. */
const text = (content) =>
  typeof content === 'string' ? content : content.map((part) => part.text).join('');

const stop = (finish_reason) => ({ delta: {}, finish_reason });

function answer(step, response) {
  const about = { id: 'reply', object: 'chat.completion.chunk', created: 0, model: 'script' };
  const events = choices(step).map((choice) =>
    JSON.stringify({ ...about, choices: [{ index: 0, ...choice }] }),
  );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end([...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
}

/**
 * Starts one, and returns where it is. `steps` are what it says in turn: a text, or a tool's
 * `{name, args}`. How far it has come it sees, as a model does, by the results of tools in the
 * conversation, which it keeps in `heard`, as it keeps what the user has said in `asked`.
 */
export async function startModel(sandbox, steps, heard = [], asked = []) {
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const said = (by) => JSON.parse(body).messages.filter(({ role }) => role === by);
    const results = said('tool');
    heard.splice(0, heard.length, ...results.map(({ content }) => text(content)));
    asked.splice(0, asked.length, ...said('user').map(({ content }) => text(content)));
    answer(steps[results.length] ?? '', response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  sandbox.defer(() => server.close());
  return `http://127.0.0.1:${server.address().port}/v1`;
}
