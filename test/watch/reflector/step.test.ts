import { expect, test } from 'vitest';
import type { Fault, FaultCode } from '../../../src/core/faults.ts';
import { clusterName, parseResourceVersion, type ResourceVersion } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import {
  blankMemory,
  type DecodedWatchEvent,
  type ListAttempt,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorMemory,
  type ReflectorState,
  type RequestAttempt,
  type StepMoment,
  type StepResult,
} from '../../../src/watch/reflector/reflector-state.ts';
import { stepReflector } from '../../../src/watch/reflector/step.ts';

const cluster = clusterName('north');
const v = version('100');
const held: ReflectorMemory = { ...blankMemory, version: v, listed: true };
const at0: StepMoment = { nowMs: 0, random: 0 };
const unreachable = fault('UNREACHABLE');

interface Case {
  readonly row: string;
  readonly state: ReflectorState;
  readonly memory?: ReflectorMemory;
  readonly moment?: StepMoment;
  readonly input: ReflectorInput;
  readonly phase: ReflectorState['phase'];
  /** The types of the effects, in order. `sleep` has its length, `list` and `watch` have their versions. */
  readonly effects: readonly string[];
  /** Checks the rest of the result. */
  readonly also?: (step: StepResult) => void;
}

const listing: ReflectorState = { phase: 'listing', list: page(1, '0') };
const listingAtV: ReflectorState = { phase: 'listing', list: page(1, v) };
const page3: ReflectorState = { phase: 'listing', list: { ...page(3, '0'), token: 'c3' } };
const streaming: ReflectorState = { phase: 'streaming', from: v, receivedMs: 0 };
const watching: ReflectorState = { phase: 'watching', openedMs: 0, receivedEvent: true };
const opening: ReflectorState = { phase: 'watching', receivedEvent: false };
const item = new Uint8Array([123, 125]);

const cases: readonly Case[] = [
  {
    row: '1 begins with a WatchList if it is allowed',
    state: { phase: 'fresh' },
    memory: { ...blankMemory, streaming: true },
    input: { type: 'started' },
    phase: 'streaming',
    effects: ['discard', 'stream from ""', 'sleep 30000'],
  },
  {
    row: '1 begins with a WatchList from v',
    state: { phase: 'fresh' },
    memory: { ...held, streaming: true },
    input: { type: 'started' },
    phase: 'streaming',
    effects: ['discard', 'stream from "100"', 'sleep 30000'],
  },
  {
    row: '1 begins with a list at v',
    state: { phase: 'fresh' },
    memory: held,
    input: { type: 'started' },
    phase: 'listing',
    effects: ['discard', 'list at "100"'],
  },
  {
    row: '1 begins with a list at 0 without v',
    state: { phase: 'fresh' },
    input: { type: 'started' },
    phase: 'listing',
    effects: ['discard', 'list at "0"'],
  },

  { row: '2 stages an item', state: listing, input: { type: 'items', items: [item] }, phase: 'listing', effects: ['stage'] },
  {
    row: '2 requests the next page by its token',
    state: listing,
    input: { type: 'pageEnded', version: v, continue: 'c2' },
    phase: 'listing',
    effects: ['list page 2 by c2'],
    also: ({ memory }) => expect(memory.listed).toBe(false),
  },
  {
    row: '2 commits after the last page and watches from its version',
    state: page3,
    input: { type: 'pageEnded', version: v },
    phase: 'watching',
    effects: ['commit 100', 'watch from "100"'],
    also: ({ memory }) => expect(memory).toMatchObject({ version: v, listed: true }),
  },
  {
    row: '2 polls after a list without a version',
    state: listing,
    input: { type: 'pageEnded' },
    phase: 'polling',
    effects: ['commit undefined', 'sleep 48000'],
  },

  {
    row: '3 an expired token: the whole list, without limit, at the version of the first request',
    state: page3,
    input: failed('EXPIRED', { code: 410 }),
    phase: 'listing',
    effects: ['discard', 'whole list at "0"'],
  },
  {
    row: '4 410 on the first page: at once the most recent list',
    state: listingAtV,
    memory: held,
    input: failed('EXPIRED', { code: 410 }),
    phase: 'listing',
    effects: ['discard', 'list at ""'],
  },
  {
    row: '4 a version from the future: the same',
    state: listingAtV,
    memory: held,
    input: failed('TIMED_OUT', { code: 504, cause: 'ResourceVersionTooLarge' }),
    phase: 'listing',
    effects: ['discard', 'list at ""'],
  },
  {
    row: '4 410 to the most recent list: waits',
    state: { phase: 'listing', list: page(1, '') },
    memory: held,
    input: failed('EXPIRED', { code: 410 }),
    phase: 'waiting',
    effects: ['sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, '')),
  },

  ...(['THROTTLED', 'SERVER_ERROR', 'UNREACHABLE', 'TIMED_OUT'] as const).map(
    (code): Case => ({
      row: `5 ${code} on a page: waits, same page`,
      state: page3,
      input: failed(code),
      phase: 'waiting',
      effects: ['sleep 800'],
      also: (next) => expect(retryOf(next)).toEqual({ ...page(3, '0'), token: 'c3', failures: 1 }),
    }),
  ),
  {
    row: '5 the third failure of a page: discards, waits, lists again',
    state: { phase: 'listing', list: { ...page(3, '0'), token: 'c3', failures: 2 } },
    input: failed('SERVER_ERROR'),
    phase: 'waiting',
    effects: ['discard', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, '0')),
  },
  {
    row: '5 Retry-After above 60 s: the same',
    state: page3,
    input: failed('THROTTLED', { code: 429, retryAfterSeconds: 61 }),
    phase: 'waiting',
    effects: ['discard', 'sleep 61000'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, '0')),
  },

  {
    row: '6 stages ADDED and keeps v',
    state: streaming,
    memory: held,
    input: applied('120'),
    phase: 'streaming',
    effects: ['stageEvents'],
    also: ({ memory }) => expect(memory.version).toBe(v),
  },
  {
    row: '6 stages DELETED and keeps v',
    state: streaming,
    memory: held,
    input: deleted('121'),
    phase: 'streaming',
    effects: ['stageEvents'],
    also: ({ memory }) => expect(memory.version).toBe(v),
  },
  {
    row: '6 ignores a bookmark before the end bookmark',
    state: streaming,
    memory: held,
    input: bookmark('130'),
    phase: 'streaming',
    effects: [],
    also: ({ memory }) => expect(memory.version).toBe(v),
  },
  {
    row: '7 commits at the version of the end bookmark, on the same stream',
    state: streaming,
    memory: held,
    input: bookmark('130', 'end'),
    phase: 'watching',
    effects: ['commit 130'],
    also: ({ memory }) => expect(memory).toMatchObject({ version: '130', listed: true, streamFailures: 0 }),
  },

  {
    row: '8 400: no WatchList for this kind',
    state: streaming,
    memory: { ...held, streaming: true },
    input: failed('INVALID', { code: 400 }),
    phase: 'listing',
    effects: ['report streamingRefused kind', 'discard', 'list at "100"'],
    also: ({ memory }) => expect(memory.streaming).toBe(false),
  },
  {
    row: '8 422: the same',
    state: streaming,
    memory: { ...held, streaming: true },
    input: failed('INVALID', { code: 422 }),
    phase: 'listing',
    effects: ['report streamingRefused kind', 'discard', 'list at "100"'],
  },
  {
    row: '8 silence for 30 s: no WatchList for this cluster',
    state: streaming,
    memory: { ...held, streaming: true },
    moment: { nowMs: 30_000, random: 0 },
    input: { type: 'elapsed' },
    phase: 'listing',
    effects: ['abort', 'report streamingRefused cluster', 'discard', 'list at "100"'],
  },
  {
    row: '8 an event came meanwhile: waits for the remaining time',
    state: { phase: 'streaming', from: v, receivedMs: 20_000 },
    memory: held,
    moment: { nowMs: 30_000, random: 0 },
    input: { type: 'elapsed' },
    phase: 'streaming',
    effects: ['sleep 20000'],
  },

  {
    row: '9 410: one more WatchList, from ""',
    state: streaming,
    memory: held,
    input: failed('EXPIRED', { code: 410 }),
    phase: 'streaming',
    effects: ['discard', 'stream from ""', 'sleep 30000'],
  },
  {
    row: '9 504: the same',
    state: streaming,
    memory: held,
    input: failed('TIMED_OUT', { code: 504, cause: 'ResourceVersionTooLarge' }),
    phase: 'streaming',
    effects: ['discard', 'stream from ""', 'sleep 30000'],
  },
  {
    row: '9 410 as an event: the stream is aborted too',
    state: streaming,
    memory: held,
    input: errorEvent('EXPIRED', { code: 410 }),
    phase: 'streaming',
    effects: ['abort', 'discard', 'stream from ""', 'sleep 30000'],
  },
  {
    row: '9 410 from "": a list at ""',
    state: { phase: 'streaming', from: '', receivedMs: 0 },
    memory: held,
    input: failed('EXPIRED', { code: 410 }),
    phase: 'listing',
    effects: ['discard', 'list at ""'],
  },
  {
    row: '9 a failure before the end: discards, waits, streams again',
    state: streaming,
    memory: held,
    input: failed('UNREACHABLE'),
    phase: 'waiting',
    effects: ['discard', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'stream', from: v }),
  },
  {
    row: '9 a clean close before the end bookmark: the same',
    state: streaming,
    memory: held,
    input: closed(),
    phase: 'waiting',
    effects: ['discard', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'stream', from: v }),
  },
  {
    row: '9 the second failure in a row: a list',
    state: streaming,
    memory: { ...held, streamFailures: 1 },
    input: closed(),
    phase: 'waiting',
    effects: ['discard', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, v)),
  },

  {
    row: '10 writes MODIFIED and moves v',
    state: watching,
    memory: held,
    input: applied('101'),
    phase: 'watching',
    effects: ['write applied 101'],
    also: ({ memory }) => expect(memory.version).toBe('101'),
  },
  {
    row: '10 writes DELETED with its last state and moves v',
    state: watching,
    memory: held,
    input: deleted('102'),
    phase: 'watching',
    effects: ['write deleted 102'],
    also: ({ memory }) => expect(memory.version).toBe('102'),
  },
  {
    row: '10 never moves v back',
    state: watching,
    memory: held,
    input: applied('99'),
    phase: 'watching',
    effects: ['write applied 100'],
    also: ({ memory }) => expect(memory.version).toBe(v),
  },
  {
    row: '10 takes versions that are not decimals in their order of arrival',
    state: watching,
    memory: held,
    input: applied('a7'),
    phase: 'watching',
    effects: ['write applied a7'],
  },

  {
    row: '11 a bookmark moves v and writes nothing',
    state: watching,
    memory: held,
    input: bookmark('150'),
    phase: 'watching',
    effects: ['confirm 150'],
    also: ({ memory }) => expect(memory.version).toBe('150'),
  },
  {
    row: '11 a bookmark without a version is ignored and counted',
    state: watching,
    memory: held,
    input: bookmark(undefined),
    phase: 'watching',
    effects: ['report bookmarkIgnored'],
    also: ({ memory }) => expect(memory.version).toBe(v),
  },
  {
    row: '11 a bookmark with a lower version is ignored and counted',
    state: watching,
    memory: held,
    input: bookmark('99'),
    phase: 'watching',
    effects: ['report bookmarkIgnored'],
    also: ({ memory }) => expect(memory.version).toBe(v),
  },

  {
    row: '12 410 as status at opening: a list at v',
    state: opening,
    memory: held,
    input: failed('EXPIRED', { code: 410 }),
    phase: 'listing',
    effects: ['discard', 'list at "100"'],
  },
  {
    row: '12 410 as ERROR in a 200: the same',
    state: watching,
    memory: held,
    input: errorEvent('EXPIRED', { code: 410 }),
    phase: 'listing',
    effects: ['abort', 'report errorEvent', 'discard', 'list at "100"'],
  },

  ...(['THROTTLED', 'SERVER_ERROR', 'UNREACHABLE', 'TIMED_OUT'] as const).map(
    (code): Case => ({
      row: `13 ${code} at opening: waits, same v, no list`,
      state: opening,
      memory: held,
      input: failed(code),
      phase: 'waiting',
      effects: ['sleep 800'],
      also: (next) => expect(retryOf(next)).toEqual({ type: 'watch' }),
    }),
  ),
  {
    row: '13 ERROR 429: the same, for at least Retry-After',
    state: watching,
    memory: held,
    input: errorEvent('THROTTLED', { code: 429, retryAfterSeconds: 7 }),
    phase: 'waiting',
    effects: ['abort', 'report errorEvent', 'sleep 7000'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'watch' }),
  },
  {
    row: '13 the backoff doubles',
    state: opening,
    memory: { ...held, failures: 3 },
    input: failed('SERVER_ERROR'),
    phase: 'waiting',
    effects: ['sleep 6400'],
  },
  {
    row: '13 the backoff begins anew after 120 s of a healthy stream',
    state: watching,
    memory: { ...held, failures: 5 },
    moment: { nowMs: 120_000, random: 0 },
    input: failed('UNREACHABLE'),
    phase: 'waiting',
    effects: ['sleep 800'],
  },
  {
    row: '13 the backoff continues after a shorter stream',
    state: watching,
    memory: { ...held, failures: 5 },
    moment: { nowMs: 119_999, random: 0 },
    input: failed('UNREACHABLE'),
    phase: 'waiting',
    effects: ['sleep 25600'],
  },

  {
    row: '14 ERROR 500: waits, same v',
    state: watching,
    memory: held,
    input: errorEvent('SERVER_ERROR', { code: 500 }),
    phase: 'waiting',
    effects: ['abort', 'report errorEvent', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'watch' }),
  },
  {
    row: '14 any other ERROR: the same',
    state: watching,
    memory: held,
    input: errorEvent('INVALID', { code: 418 }),
    phase: 'waiting',
    effects: ['abort', 'report errorEvent', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'watch' }),
  },
  {
    row: '14 the third ERROR in a row: a list at v',
    state: watching,
    memory: { ...held, errorEvents: 2 },
    input: errorEvent('SERVER_ERROR', { code: 500 }),
    phase: 'waiting',
    effects: ['abort', 'report errorEvent', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, v)),
  },
  {
    row: '14 an event between two ERRORs resets their count',
    state: watching,
    memory: { ...held, errorEvents: 2 },
    input: applied('101'),
    phase: 'watching',
    effects: ['write applied 101'],
    also: ({ memory }) => expect(memory.errorEvents).toBe(0),
  },

  {
    row: '15 a clean end: watches from v at once',
    state: watching,
    memory: held,
    moment: { nowMs: 300_000, random: 0 },
    input: closed(),
    phase: 'watching',
    effects: ['watch from "100"'],
  },
  {
    row: '15 a clean end without an event after more than a second: the same',
    state: { phase: 'watching', openedMs: 0, receivedEvent: false },
    memory: held,
    moment: { nowMs: 1_000, random: 0 },
    input: closed(),
    phase: 'watching',
    effects: ['watch from "100"'],
  },
  {
    row: '15 a clean end at once without an event: waits, list at v',
    state: { phase: 'watching', openedMs: 0, receivedEvent: false },
    memory: held,
    moment: { nowMs: 999, random: 0 },
    input: closed(),
    phase: 'waiting',
    effects: ['sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, v)),
  },

  {
    row: '16 cut in the middle of a line: as row 13',
    state: watching,
    memory: held,
    input: failed('UNREACHABLE'),
    phase: 'waiting',
    effects: ['sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'watch' }),
  },
  {
    row: '16 idle for too long: as row 13',
    state: watching,
    memory: held,
    input: failed('TIMED_OUT'),
    phase: 'waiting',
    effects: ['sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'watch' }),
  },

  {
    row: '17 unreadable: aborts, waits, list at v',
    state: watching,
    memory: held,
    input: unreadable(),
    phase: 'waiting',
    effects: ['abort', 'discard', 'report unreadable', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, v)),
  },
  {
    row: '17 unreadable again at this v: a list at ""',
    state: watching,
    memory: { ...held, unreadableAt: v },
    input: unreadable(),
    phase: 'waiting',
    effects: ['abort', 'discard', 'report unreadable', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, '')),
  },
  {
    row: '17 unreadable at another v: a list at v',
    state: watching,
    memory: { ...held, unreadableAt: version('90') },
    input: unreadable(),
    phase: 'waiting',
    effects: ['abort', 'discard', 'report unreadable', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, v)),
  },
  {
    row: '17 an unreadable item of a list: the same',
    state: listing,
    input: unreadable(),
    phase: 'waiting',
    effects: ['abort', 'discard', 'report unreadable', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, '0')),
  },
  {
    row: '17 an unreadable initial event: the same',
    state: streaming,
    memory: held,
    input: unreadable(),
    phase: 'waiting',
    effects: ['abort', 'discard', 'report unreadable', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, v)),
  },

  {
    row: '18 HTML or a redirect: waits and keeps the objects',
    state: opening,
    memory: held,
    input: failed('MALFORMED'),
    phase: 'waiting',
    effects: ['sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'watch' }),
  },
  {
    row: '18 a Table on the stream: aborts, then the same',
    state: watching,
    memory: held,
    input: errorEvent('MALFORMED'),
    phase: 'waiting',
    effects: ['abort', 'report errorEvent', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'watch' }),
  },
  {
    row: '18 a line that is too long: the same',
    state: watching,
    memory: held,
    input: failed('TOO_LARGE'),
    phase: 'waiting',
    effects: ['sleep 800'],
    also: ({ memory }) => expect(memory).toMatchObject({ listed: true, version: v }),
  },

  {
    row: '19 the breaker is open: waits for it, then makes the same request',
    state: watching,
    memory: held,
    moment: { ...at0, breaker: unreachable },
    input: failed('UNREACHABLE'),
    phase: 'waiting',
    effects: [],
    also: (next) => expect([retryOf(next), next.memory.failures]).toEqual([{ type: 'watch' }, 0]),
  },
  {
    row: '19 a page: the same, without counting a failure of the page',
    state: page3,
    moment: { ...at0, breaker: unreachable },
    input: failed('UNREACHABLE'),
    phase: 'waiting',
    effects: [],
    also: (next) => expect(retryOf(next)).toEqual({ ...page(3, '0'), token: 'c3' }),
  },
  {
    row: '19 a WatchList: the same',
    state: streaming,
    memory: held,
    moment: { ...at0, breaker: unreachable },
    input: failed('UNREACHABLE'),
    phase: 'waiting',
    effects: ['discard'],
    also: (next) => expect(retryOf(next)).toEqual({ type: 'stream', from: v }),
  },
  {
    row: '19 woken: makes the same request',
    state: waitingFor({ type: 'watch' }),
    memory: held,
    input: { type: 'woken' },
    phase: 'watching',
    effects: ['watch from "100"'],
  },
  {
    row: '19 begins no request while the breaker is open',
    state: { phase: 'fresh' },
    memory: held,
    moment: { ...at0, breaker: unreachable },
    input: { type: 'started' },
    phase: 'waiting',
    effects: [],
  },
  {
    row: '19 does not wake from a wait for a Retry-After',
    state: { phase: 'waiting', untilMs: 7_000, retry: { type: 'watch' }, fault: fault('THROTTLED') },
    memory: held,
    input: { type: 'woken' },
    phase: 'waiting',
    effects: ['sleep 7000'],
  },

  {
    row: '20 401: one retry at once',
    state: opening,
    memory: held,
    input: failed('UNAUTHENTICATED', { code: 401 }),
    phase: 'watching',
    effects: ['watch from "100"'],
    also: ({ memory }) => expect(memory.retriedCredentials).toBe(true),
  },
  {
    row: '20 401 again: waits',
    state: opening,
    memory: { ...held, retriedCredentials: true },
    input: failed('UNAUTHENTICATED', { code: 401 }),
    phase: 'waiting',
    effects: ['sleep 800'],
  },
  {
    row: '20 403 without objects: refused',
    state: listing,
    input: failed('FORBIDDEN', { code: 403 }),
    phase: 'ended',
    effects: ['discard'],
    also: ({ state }) => expect(state).toMatchObject({ reason: 'refused' }),
  },
  {
    row: '20 403 with objects: requested again after 5 s',
    state: opening,
    memory: held,
    input: failed('FORBIDDEN', { code: 403 }),
    phase: 'waiting',
    effects: ['sleep 5000'],
    also: (next) => expect([retryOf(next), next.memory.forbiddenSinceMs]).toEqual([{ type: 'watch' }, 0]),
  },
  {
    row: '20 403 again: requested after 30 s',
    state: opening,
    memory: { ...held, forbiddenSinceMs: 0 },
    moment: { nowMs: 5_000, random: 0 },
    input: failed('FORBIDDEN', { code: 403 }),
    phase: 'waiting',
    effects: ['sleep 25000'],
  },
  {
    row: '20 403 again after 30 s: no more requests',
    state: opening,
    memory: { ...held, forbiddenSinceMs: 0 },
    moment: { nowMs: 30_000, random: 0 },
    input: failed('FORBIDDEN', { code: 403 }),
    phase: 'waiting',
    effects: ['sleep 30000'],
  },
  {
    row: '20 403 for 60 s: refused',
    state: { phase: 'waiting', untilMs: 60_000, retry: { type: 'watch' }, fault: fault('FORBIDDEN') },
    memory: { ...held, forbiddenSinceMs: 0 },
    moment: { nowMs: 60_000, random: 0 },
    input: { type: 'elapsed' },
    phase: 'ended',
    effects: ['discard'],
  },
  {
    row: '20 an outage does not extend the time of a missing right',
    state: opening,
    memory: { ...held, forbiddenSinceMs: 0 },
    moment: { nowMs: 20_000, random: 0, breaker: unreachable },
    input: failed('UNREACHABLE'),
    phase: 'waiting',
    effects: ['sleep 40000'],
  },
  {
    row: '20 a granted right resets the time of the missing right',
    state: opening,
    memory: { ...held, forbiddenSinceMs: 0 },
    input: { type: 'opened' },
    phase: 'watching',
    effects: [],
    also: ({ memory }) => expect(memory.forbiddenSinceMs).toBeUndefined(),
  },
  {
    row: '20 404: discovery decides',
    state: opening,
    memory: held,
    input: failed('NOT_SERVED', { code: 404 }),
    phase: 'waiting',
    effects: ['rediscover', 'sleep 800'],
  },

  {
    row: '21 405 on a watch: polls',
    state: opening,
    memory: held,
    input: failed('NOT_SERVED', { code: 405 }),
    phase: 'polling',
    effects: ['sleep 48000'],
    also: ({ memory }) => expect(memory.watchable).toBe(false),
  },
  {
    row: '21 lists and then polls a kind without the verb watch',
    state: listing,
    memory: { ...blankMemory, watchable: false },
    moment: { nowMs: 0, random: 0.5 },
    input: { type: 'pageEnded', version: v },
    phase: 'polling',
    effects: ['commit 100', 'sleep 60000'],
  },
  {
    row: '21 polls by a list of the most recent state',
    state: { phase: 'polling', nextMs: 0 },
    memory: { ...held, watchable: false },
    input: { type: 'elapsed' },
    phase: 'listing',
    effects: ['discard', 'list at ""'],
  },

  {
    row: '22 our own code throws: reports, discards, waits, list at v',
    state: watching,
    memory: held,
    input: { type: 'threw', fault: fault('MALFORMED') },
    phase: 'waiting',
    effects: ['abort', 'discard', 'report invariant', 'sleep 800'],
    also: (next) => expect(retryOf(next)).toEqual(page(1, v)),
  },

  {
    row: '23 stopped: aborts, discards, ends',
    state: page3,
    input: { type: 'stopped', reason: 'stopped' },
    phase: 'ended',
    effects: ['abort', 'discard'],
  },
  {
    row: '23 does nothing after the end',
    state: { phase: 'ended', reason: 'stopped' },
    memory: held,
    input: applied('101'),
    phase: 'ended',
    effects: [],
    also: ({ memory }) => expect(memory).toBe(held),
  },
];

test.each(cases)('row $row', ({ state, memory = blankMemory, moment = at0, input, phase, effects, also }) => {
  const next = stepReflector({ state, memory, moment }, input);
  expect([next.state.phase, next.effects.map(shown)]).toEqual([phase, effects]);
  also?.(next);
});

test('every row of the table is a case', () => {
  const rows = new Set(cases.map(({ row }) => Number.parseInt(row, 10)));
  expect([...rows].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 23 }, (_, index) => index + 1));
});

test('asks the server to end each watch after 5 to 10 minutes', () => {
  const secondsAt = (random: number) => {
    const { effects } = stepReflector({ state: watching, memory: held, moment: { nowMs: 9_000, random } }, closed());
    return effects.flatMap((effect) => (effect.type === 'watch' ? [effect.timeoutSeconds] : []));
  };
  expect([secondsAt(0), secondsAt(0.999_999)]).toEqual([[300], [600]]);
});

function shown(effect: ReflectorEffect): string {
  switch (effect.type) {
    case 'list': {
      const { at, paging, page: number, token } = effect.list;
      return token === undefined ? `${paging === 'whole' ? 'whole list' : 'list'} at "${at}"` : `list page ${number} by ${token}`;
    }
    case 'watch':
      return `${effect.initialEvents ? 'stream' : 'watch'} from "${effect.version}"`;
    case 'commit':
    case 'confirm':
      return `${effect.type} ${effect.version}`;
    case 'write':
      return `write ${effect.event.type} ${effect.version}`;
    case 'sleep':
      return `sleep ${effect.ms}`;
    case 'report':
      return `report ${effect.what}${effect.what === 'streamingRefused' ? ` ${effect.by}` : ''}`;
    default:
      return effect.type;
  }
}

function retryOf({ state }: StepResult): RequestAttempt | undefined {
  return state.phase === 'waiting' ? state.retry : undefined;
}

function waitingFor(retry: RequestAttempt): ReflectorState {
  return { phase: 'waiting', untilMs: Number.POSITIVE_INFINITY, retry, fault: unreachable };
}

function page(number: number, at: ListAttempt['at']): ListAttempt {
  return { type: 'list', at, paging: 'paged', page: number, failures: 0 };
}

function version(text: string): ResourceVersion {
  const parsed = parseResourceVersion(text);
  if (parsed === undefined) throw new Error(`expected a version, got ${text}`);
  return parsed;
}

interface Said {
  readonly code: number;
  readonly retryAfterSeconds?: number;
  readonly cause?: string;
}

function fault(code: FaultCode, said?: Said): Fault {
  if (said === undefined) return { code, cluster, message: code, retry: 'LATER' };
  const { cause, ...status } = said;
  const causes = cause === undefined ? [] : [{ reason: cause }];
  return { code, cluster, message: code, retry: 'LATER', status: { ...status, reason: '', message: '', causes } };
}

function failed(code: FaultCode, said?: Said): ReflectorInput {
  return { type: 'failed', fault: fault(code, said) };
}

function closed(): ReflectorInput {
  return { type: 'closed', fault: fault('SERVER_ERROR') };
}

function unreadable(): ReflectorInput {
  return { type: 'unreadable', fault: fault('MALFORMED') };
}

function event(of: DecodedWatchEvent): ReflectorInput {
  return { type: 'event', event: of };
}

function errorEvent(code: FaultCode, said?: Said): ReflectorInput {
  return event({ type: 'error', fault: fault(code, said) });
}

function bookmark(at: string | undefined, end?: 'end'): ReflectorInput {
  return event({ type: 'bookmark', initialEventsEnd: end === 'end', ...(at === undefined ? {} : { version: version(at) }) });
}

function applied(at: string): ReflectorInput {
  const object: KubernetesObject = { metadata: { name: 'web', namespace: 'default', resourceVersion: at } };
  return event({ type: 'applied', wireType: 'MODIFIED', object, version: version(at), exactly: () => object });
}

function deleted(at: string): ReflectorInput {
  const object: KubernetesObject = { metadata: { name: 'web', namespace: 'default', resourceVersion: at } };
  return event({ type: 'deleted', object, version: version(at), exactly: () => object });
}
