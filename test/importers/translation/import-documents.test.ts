import { expect, test } from 'vitest';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import { importText } from '../../../src/importers/translation/import-documents.ts';

test('documents that no importer takes are unread, each with a note', () => {
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n---\njust a text\n---\n[1, 2]\n';
  const result = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  expect(result).toEqual({
    propagations: [],
    unread: [
      { index: 0, key: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }, role: 'OTHER' },
      { index: 1, role: 'OTHER' },
      { index: 2, role: 'OTHER' },
    ],
    notes: [
      {
        severity: 'WARNING',
        code: 'UNCLAIMED',
        message: 'ConfigMap a is selected by no policy, and is no kind of a system that can be imported',
        path: '[0]',
      },
      {
        severity: 'WARNING',
        code: 'NOT_AN_OBJECT',
        message: '[1] is no Kubernetes object: expected apiVersion, kind and metadata.name',
        path: '[1]',
      },
      {
        severity: 'WARNING',
        code: 'NOT_AN_OBJECT',
        message: '[2] is no Kubernetes object: expected apiVersion, kind and metadata.name',
        path: '[2]',
      },
    ],
    faults: [],
  });
});
