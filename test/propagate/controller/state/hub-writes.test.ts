import { expect, test } from 'vitest';
import { createHubWrites, withOrderedSaves } from '../../../../src/propagate/controller/state/hub-writes.ts';
import type { ShareStore } from '../../../../src/propagate/model/inventory.ts';
import { createManualClock, turns } from '../../../support/manual-clock.ts';

const { signal } = new AbortController();

/** Saves and statuses that stay under way until `end`. A save is named after the version of its share. */
function startWrites(mayWrite = () => true) {
  const sent: string[] = [];
  const ends: (() => void)[] = [];
  const clock = createManualClock();
  const hubWrites = createHubWrites(clock);
  const save = (share: { readonly version: string }) => {
    sent.push(share.version);
    return new Promise<unknown>((resolve) => ends.push(() => resolve({ result: 'saved', share })));
  };
  const shares = withOrderedSaves({ save } as unknown as ShareStore, hubWrites, mayWrite);
  const saveAs = (version: string, state: string, until = signal) => shares.save({ version, entries: [{ state }] } as never, until);
  const report = (version: string) => hubWrites.send('last', () => save({ version }), signal);
  return { clock, sent, saveAs, report, end: () => void ends.shift()?.() };
}

test('announced copies come before written copies, and reports come last', async () => {
  const { sent, saveAs, report, end } = startWrites();
  for (let index = 0; index < 10; index += 1) void report(`early-${index}`);
  void report('status');
  for (const [version, state] of Object.entries({ pending: 'PendingDeletion', owned: 'Owned', intended: 'Intended' }))
    void saveAs(version, state);
  await turns();
  expect(sent).toHaveLength(10);
  for (let index = 0; index < 4; index += 1) {
    end();
    await turns();
  }
  expect(sent.slice(10)).toEqual(['intended', 'pending', 'owned', 'status']);
});

test('a report is sent although copies are announced all the time', async () => {
  const { clock, sent, saveAs, report, end } = startWrites();
  for (let index = 0; index < 10; index += 1) void saveAs(`early-${index}`, 'Intended');
  void report('status');
  let waitedMs = 0;
  for (; waitedMs < 60_000 && !sent.includes('status'); waitedMs += 1_000) {
    await clock.advance(1_000);
    void saveAs(`after-${waitedMs}`, 'Intended');
    end();
    await turns();
  }
  expect(waitedMs).toBe(10_000);
});

test('a save whose turn comes after the Lease has expired is not sent', async () => {
  let leads = true;
  const { sent, saveAs, end } = startWrites(() => leads);
  for (let index = 0; index < 10; index += 1) void saveAs(`early-${index}`, 'Owned');
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
  for (let index = 0; index < 10; index += 1) void saveAs(`early-${index}`, 'Owned');
  void saveAs('aborted', 'Owned', ended.signal);
  ended.abort();
  await turns();
  expect(sent).toContain('aborted');
});
