import { describe, expect, test } from 'vitest';
import { parseJsonExactly } from '../../../src/core/json.ts';
import { documentOf, readDeletion } from '../../../src/propagate/model/input-spec.ts';
import type { PropagationInput } from '../../../src/propagate/model/propagations.ts';

const place = { namespace: 'shop', name: 'web' };
const json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', labels: { SCALE: 'ADD' } }, data: { op: null } };

function document(fields: Readonly<Record<string, unknown>>) {
  const { document: made, problems } = documentOf({ ...place, ...fields } as PropagationInput);
  expect(problems).toEqual([]);
  return made;
}

describe('an input of the schema', () => {
  test('has its enum values respelled as in resources, and nothing else', () => {
    expect(
      document({
        template: [{ json }],
        conflict: 'CREATE_ONLY',
        placement: {
          fields: [{ field: 'REGION', operator: 'DOES_NOT_EXIST' }],
          spread: [{ by: 'LABEL', label: 'ADD' }],
          tolerations: [{ effect: 'PREFER_NO_SCHEDULE' }],
        },
        overrides: [
          {
            image: [{ component: 'DIGEST', operator: 'REPLACE', value: 'REMOVE' }],
            jsonPatch: [{ op: 'add', path: '/a', value: 'ADD' }],
            fields: [{ path: '/b', format: 'YAML', patch: [] }],
          },
        ],
      }),
    ).toEqual({
      template: [{ json }],
      conflict: 'CreateOnly',
      placement: {
        fields: [{ field: 'region', operator: 'DoesNotExist' }],
        spread: [{ by: 'label', label: 'ADD' }],
        tolerations: [{ effect: 'PreferNoSchedule' }],
      },
      overrides: [
        {
          image: [{ component: 'digest', operator: 'Replace', value: 'REMOVE' }],
          jsonPatch: [{ op: 'add', path: '/a', value: 'ADD' }],
          fields: [{ path: '/b', format: 'yaml', patch: [] }],
        },
      ],
    });
  });

  test('names the exact system in capitals, and has its source as in resources', () => {
    const objects = [{ apiVersion: 'v1', kind: 'A', name: 'a', role: 'Template' }];
    const source = { system: 'FederationV1', objects, notes: [{ severity: 'INFO', code: 'API_CONVERTED', message: 'm' }] };
    expect(document({ exact: { system: 'FEDERATION_V1', key: 'a/b', policies: { op: null } }, source })).toEqual({
      exact: { system: 'FederationV1', key: 'a/b', policies: { op: null } },
      source,
    });
    expect(document({ exact: { system: 'MULTI_CLUSTER_RESOURCE' } })).toEqual({ exact: { system: 'MultiClusterResource' } });
  });

  test('has its selectors turned into objects', () => {
    const selector = 'app=web,tier in (front,back),!canary,zone!=a';
    expect(document({ placement: { selector }, overrides: [{ objects: { labels: 'app' } }] })).toEqual({
      placement: {
        selector: {
          matchLabels: { app: 'web' },
          matchExpressions: [
            { key: 'canary', operator: 'DoesNotExist' },
            { key: 'tier', operator: 'In', values: ['back', 'front'] },
            { key: 'zone', operator: 'NotIn', values: ['a'] },
          ],
        },
      },
      overrides: [{ objects: { labels: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } }],
    });
    expect(document({ placement: { selector: '' } })).toEqual({ placement: { selector: {} } });
  });

  test('has no member for null, except in manifests and patches', () => {
    const asked = {
      template: [{ json, yaml: null, ref: null }],
      placement: { clusters: null, selector: null },
      overrides: null,
      replicas: null,
    };
    expect(document(asked)).toEqual({ template: [{ json }], placement: {} });
  });

  test('keeps unknown fields, so that they are reported, and long integers exactly', () => {
    const long = parseJsonExactly('{"n": 9007199254740993}');
    const made = document({ template: [{ json: { ...json, data: long } }], zeal: { a: 'ADD' } });
    expect(JSON.stringify(made)).toContain('"n":9007199254740993');
    expect(made.zeal).toEqual({ a: 'ADD' });
  });

  test.each([
    ['a > 3', 'a resource has no such operator'],
    ['a in (', 'label selector'],
  ])('has a problem if a resource cannot express its selector: %s', (selector, message) => {
    const { problems } = documentOf({ ...place, overrides: [{ set: { selector } }] });
    expect(problems).toEqual([{ path: 'overrides[0].set.selector', message: expect.stringContaining(message) }]);
  });

  test('for a deletion gets the defaults', () => {
    expect(readDeletion({ policy: 'ORPHAN' })).toEqual({ deletion: { policy: 'Orphan', cascade: 'Background' } });
    expect(readDeletion({ cascade: 'SOMEHOW' })).toMatchObject({ problems: [{ path: 'deletion.cascade' }] });
  });
});
