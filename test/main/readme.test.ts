import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

// Whoever tries what the README shows does so on the embedded fleet: there it finds something.

const readme = readFileSync(path.join(import.meta.dirname, '../../README.md'), 'utf8');
const documents = [...readme.matchAll(/^```graphql\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
const commands = [...readme.matchAll(/^ {4}muster (.+?)(?: {2,}#.*)?$/gm)].map(([, text = '']) => text);

let folder: string;
let gateway: RunningProcess;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-readme-'));
  const images = 'query ($labels: String) { pods(labels: $labels) { items { spec { containers { image } } } } }';
  await writeFile(path.join(folder, 'images.graphql'), images);
  gateway = runMuster(['--demo', '--port', '0', '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: folder });
  url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('the README shows documents and commands', () => {
  expect([documents.length, commands.length]).toEqual([4, 6]);
});

describe('every document finds something', () => {
  test.each(documents.map((document) => [document]))('%s', async (query) => {
    const isStream = query.startsWith('subscription');
    const ask = async () => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: isStream ? 'text/event-stream' : 'application/json' },
        body: JSON.stringify({ query }),
      });
      const text = isStream ? await untilFound(response) : await response.text();
      expect(text).not.toContain('"errors"');
      return text;
    };
    // The containers of a Job that has only begun have said nothing yet.
    await expect.poll(ask, { timeout: 20_000 }).toMatch(found);
  });
});

describe('every command does', () => {
  test.each(commands.map((command) => [command]))('muster %s', async (command) => {
    const args = command.split(' ').map((word) => (word.endsWith('.graphql') ? path.join(folder, word) : word));
    await using muster = runMuster([...args, '--gateway', url], { HOME: folder });
    // Of each of two clusters a row, a line of a log or an image.
    await muster.says(/(?:eu-prod|cart:)[\s\S]*(?:us-prod|cart:)/);
    expect(muster.err()).not.toMatch(/^muster:/m);
  });
});

/** An object of an answer: its name, or a line of its log. */
const found = /"(?:availableReplicas|phase|text)":/;

async function untilFound({ body }: Response): Promise<string> {
  let text = '';
  for await (const bytes of body ?? []) {
    text += new TextDecoder().decode(bytes);
    if (found.test(text)) break;
  }
  return text;
}
