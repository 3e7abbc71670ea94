import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { columnsOf } from '../../../src/model/columns/columns.ts';
import { later } from '../../../src/model/columns/pod-status.ts';
import { container, containers, sidecars } from './pod-states.ts';

const columnValue = (kind: string, column: string, object: JsonObject) =>
  columnsOf({ group: '', kind })
    .find(({ name }) => name === column)
    ?.get({ metadata: { name: 'one' }, ...object } as KubernetesObject);

const [early, middle, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z', '2026-01-02T00:00:00Z'];
const ended = (finishedAt: string | number) => ({ restartCount: 1, lastState: { terminated: { exitCode: 1, finishedAt } } });
const runs = { running: { startedAt: early } };
const spec = { containers: containers('web', 'log'), initContainers: [...containers('fetch'), ...sidecars('proxy')] };
const web = container('web', runs, ended(early));
const log = container('log', runs, ended(middle));
const fetched = container('fetch', { terminated: { exitCode: 0 } }, ended(late));
const proxy = container('proxy', runs, { started: true, ready: true, ...ended(late) });

test.each<[which: string, status: JsonObject, expected: string | undefined]>([
  ['of no container', {}, undefined],
  ['the latest of its containers', { containerStatuses: [log, web] }, middle],
  ['with sidecars', { initContainerStatuses: [proxy], containerStatuses: [web] }, late],
  ['without init containers that are through', { initContainerStatuses: [fetched], containerStatuses: [web] }, early],
  ['of init containers while they run', { initContainerStatuses: [container('fetch', runs, ended(late))], containerStatuses: [web] }, late],
  ['without what is no time', { containerStatuses: [container('web', runs, ended(7)), container('log', runs, ended('soon'))] }, undefined],
])('the last restart %s', (_, status, expected) => {
  expect(columnValue('Pod', 'lastRestart', { spec, status })).toBe(expected);
});

test.each<[object: JsonObject, count: number]>([
  [{}, 0],
  [{ data: { a: '1', b: '2' }, binaryData: { c: 'YQ==' } }, 3],
  [{ data: null, binaryData: ['a'] }, 0],
])('the keys of the ConfigMap %j are %i', (object, count) => {
  expect(columnValue('ConfigMap', 'dataCount', object)).toBe(count);
});

test.each([
  [early, late, late],
  [late, early, late],
  [early, early, early],
  [undefined, early, early],
  [early, undefined, early],
  ['soon', early, early],
  ['soon', 'never', undefined],
  ['2026-01-01T00:00:00.000000001Z', '2026-01-01T00:00:00.000000002Z', '2026-01-01T00:00:00.000000002Z'],
  ['2026-01-01T02:00:00+02:00', '2026-01-01T00:00:00Z', '2026-01-01T02:00:00+02:00'],
])('the later of %s and %s is %s', (a, b, expected) => {
  expect(later(a, b)).toBe(expected);
});
