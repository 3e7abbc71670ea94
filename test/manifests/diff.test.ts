import { applyPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printYaml } from '../../src/core/json/print-yaml.ts';
import { diffOf } from '../../src/manifests/diff.ts';

const configMap = (data: Record<string, string>, metadata = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'default', ...metadata },
  data,
});
const secret = (data: Record<string, string>, metadata = {}) => ({ ...configMap(data, metadata), kind: 'Secret', type: 'Opaque' });
const served = { uid: 'u', resourceVersion: '7', creationTimestamp: 't', managedFields: [{ manager: 'm' }] };

test('prints changes as a unified diff, without fields that a server fills in', () => {
  const diff = diffOf({ before: configMap({ a: '1', b: '2' }, served), after: configMap({ b: '2', a: '3' }), isSensitive: false });
  expect(diff).toBe(`--- live
+++ planned
@@ -4,5 +4,5 @@
   name: web
   namespace: default
 data:
-  a: "1"
+  a: "3"
   b: "2"
`);
});

test('prints a created or deleted object completely', () => {
  const made = diffOf({ before: undefined, after: configMap({ a: '1' }, served), isSensitive: false });
  expect(made?.split('\n').filter((line) => line.startsWith('+'))).toEqual([
    '+++ planned',
    ...lines(configMap({ a: '1' })).map((line) => `+${line}`),
  ]);
  const gone = diffOf({ before: configMap({ a: '1' }), after: undefined, isSensitive: false });
  expect(gone).toContain('-  a: "1"');
});

test('gives no diff if only fields of the server change', () => {
  const before = { ...configMap({ a: '1' }, served), status: { x: 1 } };
  expect(diffOf({ before, after: configMap({ a: '1' }), isSensitive: false })).toBeUndefined();
  expect(diffOf({ before: secret({ a: 'cGFzcw==' }), after: secret({ a: 'cGFzcw==' }), isSensitive: true })).toBeUndefined();
});

test('prints keys of a sensitive object and whether they change, never values', () => {
  const lastApplied = { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"cGFzcw=="}}' } };
  const before = secret({ a: 'cGFzcw==', same: 'c2FtZQ==', gone: 'Z29uZQ==' }, lastApplied);
  const after = secret({ a: 'bmV3ZXI=', same: 'c2FtZQ==', come: 'Y29tZQ==' });
  const diff = diffOf({ before, after, isSensitive: true }) ?? '';
  expect(diff).toContain('-  a: "(not shown, changes)"\n');
  expect(diff).toContain('+  a: "(not shown, changed)"\n');
  expect(diff).toContain('   same: "(not shown)"\n');
  expect(diff).toMatch(/- {2}gone: .*\n/);
  expect(diff).toMatch(/\+ {2}come: .*\n/);
  for (const value of ['cGFzcw', 'bmV3ZXI', 'c2FtZQ', 'Z29uZQ', 'Y29tZQ']) expect(diff).not.toContain(value);
});

test('ends fast even with very many changes', () => {
  const many = (prefix: string) =>
    configMap(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`${prefix}${index}`, `${prefix}${index}`])));
  const startedMs = performance.now();
  const diff = diffOf({ before: many('a'), after: many('b'), isSensitive: false });
  expect(performance.now() - startedMs).toBeLessThan(20_000);
  expect(diff?.split('\n').length).toBeGreaterThan(40_000);
});

test('is a patch that turns one object into the other', () => {
  const data = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), fc.constantFrom('1', '2', 'x\ny\n'));
  fc.assert(
    fc.property(data, data, (one, two) => {
      const diff = diffOf({ before: configMap(sortedMap(one)), after: configMap(sortedMap(two)), isSensitive: false });
      const [before, after] = [textOf(one), textOf(two)];
      expect(diff === undefined ? before : applyPatch(before, diff)).toBe(after);
    }),
  );
});

const sortedMap = (map: Record<string, string>) => Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
const textOf = (data: Record<string, string>) => printYaml(configMap(sortedMap(data)));
const lines = (object: object) =>
  printYaml(object as never)
    .split('\n')
    .slice(0, -1);
