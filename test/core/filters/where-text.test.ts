import { expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { allConditions, parseWhere, schemaPath } from '../../../src/core/filters/where-text.ts';
import type { JsonObject } from '../../../src/core/json.ts';

test.each<[text: string, where: JsonObject]>([
  ['spec.replicas=3', { path: 'spec.replicas', eq: 3 }],
  ['spec.replicas==3', { path: 'spec.replicas', eq: 3 }],
  ['spec.replicas!=3', { path: 'spec.replicas', ne: 3 }],
  ['spec.replicas>3', { path: 'spec.replicas', gt: 3 }],
  ['spec.replicas >= 3', { path: 'spec.replicas', gte: 3 }],
  ['spec.replicas<3', { path: 'spec.replicas', lt: 3 }],
  ['spec.replicas<=3', { path: 'spec.replicas', lte: 3 }],
  ['metadata.name=web', { path: 'metadata.name', eq: 'web' }],
  ['metadata.name=3', { path: 'metadata.name', eq: '3' }],
  ['metadata.labels.canary=true', { path: 'metadata.labels.canary', eq: 'true' }],
  ['metadata.labels["a.b/build"]>=12', { path: 'metadata.labels["a.b/build"]', gte: '12' }],
  ['node.metadata.labels.zone=1', { path: 'node.metadata.labels.zone', eq: '1' }],
  ['data.a=1', { path: 'data.a', eq: '1' }],
  ['metadata.generation=3', { path: 'metadata.generation', eq: 3 }],
  ['metadata.name="3"', { path: 'metadata.name', eq: '3' }],
  ['metadata.name=', { path: 'metadata.name', eq: '' }],
  ['metadata.name~web', { path: 'metadata.name', contains: 'web' }],
  ['metadata.name~12', { path: 'metadata.name', contains: '12' }],
  ['metadata.name^=web-', { path: 'metadata.name', startsWith: 'web-' }],
  ['spec.paused=true', { path: 'spec.paused', eq: true }],
  [
    'spec.big=9007199254740993',
    { path: 'spec.big', eq: (JSON as unknown as { rawJSON(text: string): JsonObject }).rawJSON('9007199254740993') },
  ],
  ['requests.cpu>250m', { path: 'requests.cpu', gt: '250m' }],
  ['spec.nodeName', { path: 'spec.nodeName', exists: true }],
  ['!spec.nodeName', { path: 'spec.nodeName', exists: false }],
  ['metadata.labels["a.b/c=d"]=e>f', { path: 'metadata.labels["a.b/c=d"]', eq: 'e>f' }],
  ["metadata.labels['a.b/c']=x=y", { path: "metadata.labels['a.b/c']", eq: 'x=y' }],
  ['spec.containers[*].image~nginx', { path: 'spec.containers.image', contains: 'nginx' }],
  ['{.spec.replicas}>3', { path: 'spec.replicas', gt: 3 }],
  ['{"path": "spec.replicas", "in": [1, 2]}', { path: 'spec.replicas', in: [1, 2] }],
])('parses the condition %s', (text, where) => {
  expect(parseWhere(text)).toEqual(where);
});

test.each(['', '=3', '>', '!spec.nodeName=3', 'spec.x[', '{"path"', 'spec.x=null'])('refuses the condition %s', (text) => {
  expect(() => parseWhere(text)).toThrow(MusterError);
});

test.each([
  ['metadata.name', 'metadata.name'],
  ['.metadata.name', 'metadata.name'],
  ['{.metadata.name}', 'metadata.name'],
  ['.metadata.labels.app\\.kubernetes\\.io/name', 'metadata.labels["app.kubernetes.io/name"]'],
  ['.metadata.labels.app\\.kubernetes\\.io/name.x', 'metadata.labels["app.kubernetes.io/name"].x'],
  ['metadata.labels["a.b"]', 'metadata.labels["a.b"]'],
  ['.status.containerStatuses[*].restartCount', 'status.containerStatuses.restartCount'],
])('converts the path %s to %s', (text, path) => {
  expect(schemaPath(text)).toBe(path);
});

test('combines conditions that must all hold, and returns null for none', () => {
  expect(allConditions()).toBeNull();
  expect(allConditions([{ path: 'a', eq: 1 }])).toEqual({ path: 'a', eq: 1 });
  expect(
    allConditions([
      { path: 'a', eq: 1 },
      { path: 'b', exists: true },
    ]),
  ).toEqual({
    and: [
      { path: 'a', eq: 1 },
      { path: 'b', exists: true },
    ],
  });
});
