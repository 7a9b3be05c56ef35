// Runs one `gemini-companion mcp` process, connected to the MCP project's own client.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { Inbox } from './inbox.mjs';

const PROGRAM = process.env.GEMINI_COMPANION;

export class Mcp {
  /** The notifications that the tools have changed. */
  changes = new Inbox('a change of the tools');
  #client = new Client({ name: 'test', version: '1' });

  /** Starts the program in the project, as a CLI does. */
  static async start(sandbox, { args = [], env, cwd = sandbox.project } = {}) {
    const mcp = new Mcp();
    mcp.#client.setNotificationHandler(ToolListChangedNotificationSchema, () =>
      mcp.changes.push('changed'),
    );
    const transport = new StdioClientTransport({
      command: PROGRAM,
      args: ['mcp', ...args],
      cwd,
      env: sandbox.env({ REMOTE_CONTAINERS: '1', ...env }),
    });
    sandbox.defer(() => mcp.#client.close());
    await mcp.#client.connect(transport);
    return mcp;
  }

  /** Returns the offered tools. */
  async tools() {
    return (await this.#client.listTools()).tools;
  }

  call(args) {
    return this.#client.callTool({ name: 'get_diagnostics', arguments: args });
  }

  /** Returns the text for the model. */
  async ask(args) {
    const { content, isError } = await this.call(args);
    return isError ? { error: content[0].text } : content[0].text;
  }
}
