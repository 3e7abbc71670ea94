import { describe, expect, test } from 'vitest';
import { checkPatch, guardedPatch, type PatchTypeInput } from '../../src/changes/patches.ts';
import { restartPatch } from '../../src/changes/workload-patches.ts';
import { MusterError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json.ts';
import { clusterName } from '../../src/core/names.ts';
import { loadBaseline, servedAs } from '../support/kubernetes-objects.ts';

const cluster = clusterName('north');
const resource = servedAs(loadBaseline(), 'Deployment.apps');
const address = { resource, namespace: 'shop', name: 'web' };
const kind = { group: 'apps', kind: 'Deployment' };
const guarded = (type: PatchTypeInput, patch: Json, preconditions: { uid?: string; resourceVersion?: string }) =>
  guardedPatch({ type, patch, target: { cluster, kind, name: 'web', preconditions }, address });

const both = { uid: 'u', resourceVersion: '7' };

describe('a patch contains its preconditions', () => {
  test.each<[PatchTypeInput, Json, { uid?: string; resourceVersion?: string }, Json]>([
    ['JSON', [{ op: 'remove', path: '/a' }], {}, [{ op: 'remove', path: '/a' }]],
    [
      'JSON',
      [{ op: 'remove', path: '/a' }],
      both,
      [
        { op: 'test', path: '/metadata/uid', value: 'u' },
        { op: 'test', path: '/metadata/resourceVersion', value: '7' },
        { op: 'remove', path: '/a' },
      ],
    ],
    ['MERGE', { spec: {} }, {}, { spec: {} }],
    ['MERGE', { metadata: { labels: { a: 'b' } } }, { uid: 'u' }, { metadata: { labels: { a: 'b' }, uid: 'u' } }],
    ['MERGE', { metadata: null }, { resourceVersion: '7' }, { metadata: { resourceVersion: '7' } }],
    ['STRATEGIC', { spec: {} }, both, { spec: {}, metadata: { uid: 'u', resourceVersion: '7' } }],
    ['APPLY', { spec: {} }, {}, { apiVersion: 'apps/v1', kind: 'Deployment', spec: {}, metadata: { name: 'web' } }],
    [
      'APPLY',
      { metadata: { name: 'other' } },
      { uid: 'u' },
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', uid: 'u' } },
    ],
  ])('%s %j under %j', (type, patch, preconditions, expected) => {
    expect(guarded(type, patch, preconditions)).toEqual({ type: type.toLowerCase(), patch: expected });
  });

  test('the given patch is not changed', () => {
    const patch = Object.freeze({ metadata: Object.freeze({ labels: Object.freeze({ a: 'b' }) }) });
    guarded('MERGE', patch, both);
    guarded('JSON', Object.freeze([Object.freeze({ op: 'remove', path: '/a' })]), both);
    expect(patch).toEqual({ metadata: { labels: { a: 'b' } } });
  });
});

describe('a patch that no server accepts is refused', () => {
  const refusal = (type: PatchTypeInput, patch: Json) => {
    try {
      checkPatch(type, patch);
      return undefined;
    } catch (error) {
      return error instanceof MusterError ? [error.code, error.message] : error;
    }
  };

  test.each<[PatchTypeInput, Json, string]>([
    ['MERGE', [], 'patch: expected an object for MERGE, got a list'],
    ['STRATEGIC', 'canary', 'patch: expected an object for STRATEGIC, got a string'],
    ['APPLY', null, 'patch: expected an object for APPLY, got null'],
    ['JSON', {}, 'patch: expected a list of operations (RFC 6902), got an object'],
    ['JSON', 3, 'patch: expected a list of operations (RFC 6902), got a number'],
  ])('%s %j', (type, patch, message) => {
    expect(refusal(type, patch)).toEqual(['BAD_INPUT', message]);
  });

  test.each<[Json, string]>([
    [[{ op: 'merge', path: '/canary' }], 'patch[0].op'],
    [[{ op: 'add', path: 'canary', value: 1 }], 'patch[0].path'],
    [
      [
        { op: 'remove', path: '/a' },
        { op: 'move', path: '/b' },
      ],
      'patch[1]',
    ],
    [['canary'], 'patch[0]'],
  ])('JSON %j, with the path of the problem', (patch, place) => {
    const [code, message] = refusal('JSON', patch) as string[];
    expect([code, message?.startsWith(place)]).toEqual(['BAD_INPUT', true]);
  });

  test.each<[PatchTypeInput, Json]>([
    ['JSON', []],
    ['JSON', [{ op: 'add', path: '', value: {} }]],
    ['JSON', [{ op: 'add', path: '/a~1b/~0', value: null }]],
    ['MERGE', {}],
    ['STRATEGIC', { $patch: 'delete' }],
  ])('%s %j is accepted', (type, patch) => {
    expect(refusal(type, patch)).toBeUndefined();
  });
});

describe('a restart', () => {
  const restarted = (name: string, spec: Json = {}) =>
    restartPatch({
      kind: { group: name.includes('.') ? name.slice(name.indexOf('.') + 1) : '', kind: name.replace(/\..*/, '') },
      cluster,
      before: { apiVersion: 'apps/v1', kind: 'X', metadata: { name: 'web' }, spec },
      at: new Date('2026-01-02T03:04:05.678Z'),
    });

  test.each(['Deployment.apps', 'StatefulSet.apps', 'DaemonSet.apps'])('of a %s sets the annotation of kubectl, in seconds', (name) => {
    expect(restarted(name)).toEqual({
      patch: { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-01-02T03:04:05Z' } } } } },
    });
  });

  test.each([
    ['ReplicaSet.apps', {}, 'got ReplicaSet.apps'],
    ['Pod', {}, 'got Pod'],
    ['Deployment.example.com', {}, 'got Deployment.example.com'],
    ['Deployment.apps', { paused: true }, 'resume it first'],
  ])('of a %s with %j is refused like in kubectl', (name, spec, message) => {
    const found = restarted(name, spec);
    expect('fault' in found && [found.fault.code, found.fault.retry, found.fault.message.endsWith(message)]).toEqual([
      'INVALID',
      'NEVER',
      true,
    ]);
  });
});
