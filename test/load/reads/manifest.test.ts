import { expect, test } from 'vitest';
import { redact } from '../../../src/core/redaction.ts';
import { createSensitiveKinds } from '../../../src/core/sensitive-kinds.ts';
import { manifestOf } from '../../../src/load/reads/manifest.ts';
import type { Row } from '../../../src/load/reads/reads.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

const object = objectNamed(
  'a',
  { managedFields: [{}], annotations: { [lastApplied]: 'the data again', kept: 'yes' }, labels: JSON.parse('{"__proto__":"own"}') },
  { data: { token: 'x' }, stringData: { token: 'x' }, type: 'Opaque' },
);

test('an object of a sensitive kind keeps only its metadata, without annotations that repeat its data', () => {
  const { data, stringData, metadata, ...rest } = redact(object, { sensitive: true, live: false });
  expect([data, stringData, rest]).toEqual([undefined, undefined, {}]);
  expect(metadata.annotations).toEqual({ kept: 'yes' });
  expect(metadata.managedFields).toBeUndefined();
  expect(JSON.stringify(metadata.labels)).toBe('{"__proto__":"own"}');
});

test('a Secret that is read live keeps its values, without annotations that repeat them', () => {
  const redacted = redact(object, { sensitive: true, live: true });
  expect(redacted.data).toEqual({ token: 'x' });
  expect(JSON.stringify(redacted)).not.toContain('the data again');
});

test('other kinds lose only managedFields, and no object is changed in place', () => {
  const before = JSON.stringify(object);
  const redacted = redact(Object.freeze(object), { sensitive: false, live: false });
  expect(redacted.metadata.annotations?.[lastApplied]).toBe('the data again');
  expect(redacted.metadata.managedFields).toBeUndefined();
  expect(redact(redacted, { sensitive: false, live: false })).toBe(redacted);
  expect(JSON.stringify(object)).toBe(before);
  // Only the Secret of the core group counts. A kind of another group may have the same name.
  const sensitive = createSensitiveKinds(['Widget.example.com']);
  expect(sensitive.has({ group: 'example.com', kind: 'Secret' })).toBe(false);
  expect(
    [
      { group: '', kind: 'Secret' },
      { group: 'example.com', kind: 'Widget' },
    ].every(sensitive.has),
  ).toBe(true);
});

test('a manifest has apiVersion and kind, even if the item of a list has none', () => {
  const model = loadBaseline();
  const kind = model.kinds.get('Deployment.apps');
  const row = {
    kind,
    resource: servedAs(model, 'Deployment.apps'),
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' }, spec: {} },
  };
  expect(JSON.stringify(manifestOf(row as unknown as Row))).toBe(
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{}}',
  );
});
