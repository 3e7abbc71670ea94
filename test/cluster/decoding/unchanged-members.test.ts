import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DecodedEvent, decodeEvent } from '../../../src/cluster/decoding/decode.ts';
import { equalJson } from '../../../src/core/json/json-values.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { jsonText } from '../../support/arbitrary-json.ts';
import { podResource } from '../../support/cluster/transport.ts';
import { deepFreeze } from '../../support/store/store-objects.ts';

interface Members {
  /** The metadata after the version, such as `,"managedFields":[{"manager":"kubelet"}]`. Default: none. */
  readonly metadata?: string;
  /** The members after the metadata. */
  readonly more: string;
  readonly uid?: string;
}

/** The line of an event, in the order of an API server. */
function lineOf({ metadata = '', more, uid = 'u' }: Members): string {
  const identity = `"name":"web","namespace":"shop","uid":"${uid}","resourceVersion":"7"`;
  return `{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{${identity}${metadata}},${more}}}`;
}

function decoded(line: string, held?: KubernetesObject): Extract<DecodedEvent, { readonly type: 'applied' }> {
  const event = decodeEvent(Buffer.from(line), { cluster: clusterName('south'), resource: podResource, held: () => held });
  if (event.type !== 'applied') throw new Error(JSON.stringify(event));
  return event;
}

/** The object of the line as a mirror holds it. */
function heldOf(members: Members): KubernetesObject {
  return deepFreeze(decoded(lineOf(members)).exactly());
}

const managed = ',"managedFields":[{"manager":"kubelet","fieldsV1":{"f:spec":{}}}]';
const spec = '"spec":{"nodeName":"größe","containers":[{"name":"web","args":["a"]}],"terminationGracePeriodSeconds":30}';

test.each<readonly [string, Members, Members]>([
  ['after managedFields', { metadata: managed, more: spec }, { metadata: managed, more: `${spec},"status":{"phase":"Running"}` }],
  ['without managedFields', { more: spec }, { more: `${spec},"status":{"phase":"Running"}` }],
  [
    'in a custom resource, whose keys are in order of the alphabet',
    { metadata: `${managed},"selfLink":"x"`, more: spec },
    { metadata: `${managed},"selfLink":"x"`, more: spec },
  ],
  [
    'with the escapes of Go',
    { more: '"spec":{"args":["<a> && b"]}' },
    { more: '"spec":{"args":["\\u003ca\\u003e \\u0026\\u0026 b"]},"status":{}' },
  ],
  ['with an exact integer', { more: '"spec":{"n":9223372036854775807}' }, { more: '"spec":{"n":9223372036854775807},"status":{}' }],
])('an unchanged spec is the held one, %s', (_what, before, after) => {
  const held = heldOf(before);
  const { object, exactly } = decoded(lineOf(after), held);
  expect(object.spec).toBe(held.spec);
  expect(exactly().spec).toBe(held.spec);
  expect(object).toEqual(heldOf(after));
});

test('a status that follows an unchanged spec is unchanged too, or parsed', () => {
  const held = heldOf({ more: `${spec},"status":{"phase":"Running"}` });
  expect(decoded(lineOf({ more: `${spec},"status":{"phase":"Running"}` }), held).object.status).toBe(held.status);
  expect(decoded(lineOf({ more: `${spec},"status":{"phase":"Failed"}` }), held).object.status).toEqual({ phase: 'Failed' });
});

test.each<readonly [string, Members]>([
  ['another spec', { more: '"spec":{"nodeName":"b"}' }],
  ['a spec that begins like the held one', { more: '"spec":{"nodeName":"a"},"data":{}' }],
  ['a longer number', { more: '"spec":{"n":10}' }],
  ['the object of another uid', { more: '"spec":{"n":1}', uid: 'v' }],
  ['a key that occurs twice', { more: '"spec":{"n":1},"spec":{"n":2}' }],
  ['a key with an escape', { more: '"s\\u0070ec":{"n":1},"spec":{"n":2}' }],
  ['no spec', { more: '"status":{"n":1}' }],
])('%s is parsed', (_what, after) => {
  const held = heldOf({ more: '"spec":{"n":1}' });
  const { object } = decoded(lineOf(after), held);
  expect(object.spec).not.toBe(held.spec);
  expect(object).toEqual(heldOf(after));
});

test('a held value of thousands of levels is compared or parsed, and never throws', () => {
  const deep = `"spec":${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const held = decoded(lineOf({ more: deep })).object;
  expect(Array.isArray(decoded(lineOf({ more: deep }), held).object.spec)).toBe(true);
});

test('any two states of an object decode as without a held object', () => {
  let shared = 0;
  const members = fc
    .tuple(fc.constantFrom('', managed), jsonText, jsonText)
    .map(([metadata, one, other]) => ({ metadata, more: `"spec":${one},"status":${other}` }));
  fc.assert(
    fc.property(members, members, fc.boolean(), (before, after, keepsSpec) => {
      const held = heldOf(before);
      const line = lineOf(keepsSpec ? { ...after, more: before.more } : after);
      const event = decoded(line, held);
      if (typeof held.spec === 'object' && held.spec !== null && event.object.spec === held.spec) shared += 1;
      expect(equalJson(event.exactly(), decoded(line).exactly())).toBe(true);
    }),
    { numRuns: 1_000 },
  );
  expect(shared).toBeGreaterThan(100);
});
