import { describe, expect, test } from 'vitest';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import { sourceDocumentsOf } from '../../../src/importers/documents/source-documents.ts';

function documentsOf(text: string) {
  return runAtOnce(sourceDocumentsOf(text));
}

describe('source documents', () => {
  test('are numbered from 0, and empty documents are not counted', () => {
    const documents = documentsOf('# nothing\n---\nkind: A\napiVersion: v1\nmetadata: { name: a }\n---\n---\njust a text\n');
    expect(documents.map(({ index, path, key }) => [index, path, key?.name])).toEqual([
      [0, '[0]', 'a'],
      [1, '[1]', undefined],
    ]);
  });

  test('items of a list have the index of their list, and take kind and version from a typed list', () => {
    const text = JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop', uid: '1' }, status: {} },
        { apiVersion: 'apps/v1', kind: 'DeploymentList', items: [{ metadata: { name: 'b' } }] },
      ],
    });
    expect(documentsOf(text)).toEqual([
      {
        index: 0,
        path: '[0].items[0]',
        key: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' },
        object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop' } },
        uid: '1',
      },
      {
        index: 0,
        path: '[0].items[1].items[0]',
        key: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'b' },
        object: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'b' } },
      },
    ]);
  });

  test('an empty list is a document without an object', () => {
    expect(documentsOf('{"apiVersion":"v1","kind":"List","items":[]}')).toEqual([{ index: 0, path: '[0]' }]);
  });

  test('a text that is no YAML is refused with its line', () => {
    expect(() => documentsOf('kind: A\n---\nkind: B\n  name: [\n')).toThrow(/^line 3: /);
  });
});
