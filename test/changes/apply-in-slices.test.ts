import { expect, test } from 'vitest';
import { createLocalAccess } from '../../src/access/local-access.ts';
import { noAudit } from '../../src/audit/audit.ts';
import { applyManifests } from '../../src/changes/apply-manifests.ts';
import type { ObjectChangesOptions } from '../../src/changes/changes-outcome.ts';
import type { ManifestInput } from '../../src/changes/object-changes.ts';
import { createCountedSlices } from '../support/counted-slices.ts';

const text = (keys: number) =>
  ['apiVersion: v1', 'kind: ConfigMap', 'metadata: { name: a }', 'data:', ...Array.from({ length: keys }, (_, at) => `  k${at}: "v"`)].join(
    '\n',
  );
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const list = { apiVersion: 'v1', kind: 'List', items: Array.from({ length: 100 }, () => configMap) };

test.each<[string, ManifestInput]>([
  ['a long YAML text', { yaml: text(3_000) }],
  ['a list in JSON', { json: list }],
])('an apply reads %s in slices, with other operations in between', async (_, manifest) => {
  const timeSlices = createCountedSlices();
  const options = { access: createLocalAccess(), audit: noAudit, isSensitive: () => false } as unknown as ObjectChangesOptions;
  const context = { caller: { key: 'a' }, signal: new AbortController().signal, timeSlices };
  const { ok } = await applyManifests(options, context, { manifests: [manifest], clusters: [], force: false, dryRun: true });
  expect(ok).toBe(true);
  expect(timeSlices.steps()).toBeGreaterThan(50);
});
