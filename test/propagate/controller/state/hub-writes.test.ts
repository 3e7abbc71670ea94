import { expect, test } from 'vitest';
import { createHubWrites, withOrderedSaves } from '../../../../src/propagate/controller/state/hub-writes.ts';
import type { ShareStore } from '../../../../src/propagate/model/inventory.ts';
import { turns } from '../../../support/manual-clock.ts';

const { signal } = new AbortController();

/** Saves that stay under way until `end`. A save is named after the version of its share. */
function startWrites(mayWrite = () => true) {
  const sent: string[] = [];
  const ends: (() => void)[] = [];
  const save = (share: { readonly version: string }) => {
    sent.push(share.version);
    return new Promise<unknown>((resolve) => ends.push(() => resolve({ result: 'saved', share })));
  };
  const shares = withOrderedSaves({ save } as unknown as ShareStore, createHubWrites(), mayWrite);
  const saveAs = (version: string, state: string, until = signal) => shares.save({ version, entries: [{ state }] } as never, until);
  return { sent, saveAs, end: () => void ends.shift()?.() };
}

test('announced copies come before written copies, and pending deletions come last', async () => {
  const { sent, saveAs, end } = startWrites();
  for (let index = 0; index < 16; index += 1) void saveAs(`early-${index}`, 'PendingDeletion');
  for (const [version, state] of Object.entries({ pending: 'PendingDeletion', owned: 'Owned', intended: 'Intended' }))
    void saveAs(version, state);
  await turns();
  expect(sent).toHaveLength(16);
  for (let index = 0; index < 3; index += 1) {
    end();
    await turns();
  }
  expect(sent.slice(16)).toEqual(['intended', 'owned', 'pending']);
});

test('a save whose turn comes after the Lease has expired is not sent', async () => {
  let leads = true;
  const { sent, saveAs, end } = startWrites(() => leads);
  for (let index = 0; index < 16; index += 1) void saveAs(`early-${index}`, 'Owned');
  const late = saveAs('late', 'Intended');
  await turns();
  leads = false;
  end();
  expect(await late).toEqual({ result: 'conflict' });
  expect(sent).not.toContain('late');
});

test('a save that is aborted while it waits does not wait any longer', async () => {
  const { saveAs, sent } = startWrites();
  const ended = new AbortController();
  for (let index = 0; index < 16; index += 1) void saveAs(`early-${index}`, 'Owned');
  void saveAs('aborted', 'Owned', ended.signal);
  ended.abort();
  await turns();
  expect(sent).toContain('aborted');
});
