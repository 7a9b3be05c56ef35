// Sets up a test: one window, its editor, and clients in its project.

import { Companion } from './companion.mjs';
import { Editor } from './editor.mjs';
import { IdeClient } from './ide-client.mjs';
import { Sandbox } from './sandbox.mjs';

/** An editor window without clients. */
export async function openWindow(t, options) {
  const sandbox = Sandbox.of(t);
  const companion = await Companion.start(sandbox, options);
  return { sandbox, companion, editor: new Editor(companion) };
}

/** An editor window with a connected client. */
export async function openWindowWithClient(t, options) {
  const window = await openWindow(t, options);
  return { ...window, client: await IdeClient.connect(window.sandbox) };
}
