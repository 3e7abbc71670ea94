import { describe, expect, test } from 'vitest';
import { convertBuiltIns } from '../../scripts/built-ins/convert-built-ins.ts';
import { joinModels } from '../../scripts/built-ins/join-models.ts';
import { printModel } from '../../scripts/built-ins/print-model.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { keyOfKind, type ServedResource } from '../../src/core/kinds.ts';
import type { Model } from '../../src/model/model.ts';
import { printTypeReference } from '../../src/model/model.ts';
import { parseModel } from '../../src/model/model-document.ts';
import { companionSuffixes, reservedTypeNames, resourceFieldNames } from '../../src/model/reserved-names.ts';
import { committedModel, committedModelText, corpusOpenApi } from '../support/graph/corpus.ts';

describe('the committed model', () => {
  const model = committedModel();

  test('has every kind of 1.36 that can be listed, except internal ones', () => {
    expect(model.kinds.size).toBeGreaterThanOrEqual(58);
    const keys = [...model.kinds.keys()];
    expect(keys).toEqual(
      expect.arrayContaining(['Pod', 'Deployment.apps', 'Event', 'NetworkPolicy.networking.k8s.io', 'ResourceSlice.resource.k8s.io']),
    );
    for (const left of ['ComponentStatus', 'Event.events.k8s.io', 'Binding', 'TokenReview.authentication.k8s.io'])
      expect(keys).not.toContain(left);
  });

  test('is printed as in the file: a line for each kind and type', () => {
    const text = committedModelText();
    expect(printModel(model)).toBe(text);
    expect(text.split('\n').length).toBeGreaterThan(model.kinds.size + model.types.size);
    expect(text.length).toBeLessThan(120_000);
  });

  test.each([
    ['PodSpec', 'containers', '[Container]'],
    ['PodSpec', 'nodeSelector', 'StringMap'],
    ['PodSpec', 'overhead', 'ResourceList'],
    ['DeploymentSpec', 'replicas', 'Int'],
    ['JobSpec', 'activeDeadlineSeconds', 'Int64'],
    ['Secret', 'data', 'StringMap'],
    ['ServicePort', 'targetPort', 'IntOrString'],
    ['Event', 'firstTimestamp', 'DateTime'],
    ['WebhookClientConfig', 'caBundle', 'Bytes'],
    ['CustomResourceValidation', 'openAPIV3Schema', 'JSON'],
    ['CertificateSigningRequestSpec', 'extra', 'JSON'],
    ['ResourceFieldSelector', 'divisor', 'Quantity'],
    ['PodTemplateSpec', 'metadata', 'EmbeddedObjectMeta'],
    ['StatefulSetSpec', 'volumeClaimTemplates', '[EmbeddedPersistentVolumeClaim]'],
    ['Container', 'resources', 'ResourceRequirements'],
    ['PodResourceClaim', 'resourceClaimName', 'String'],
    ['ResourceRequirements', 'claims', '[ContainerResourceClaim]'],
  ])('%s.%s is %s', (type, field, expected) => {
    const found = model.types.get(type)?.fields.find(({ name }) => name === field);
    expect(found && printTypeReference(found.type)).toBe(expected);
  });

  test('keeps merge rules of lists and deprecations', () => {
    const field = (type: string, name: string) => model.types.get(type)?.fields.find((one) => one.name === name);
    expect(field('ServiceSpec', 'ports')).toMatchObject({ listType: 'map', listMapKeys: ['port', 'protocol'], patchMergeKey: 'port' });
    expect(field('NodeSpec', 'externalID')?.deprecated).toBe('Not all kubelets will set this field.');
    const deprecated = [...model.types.values()].flatMap(({ fields }) => fields.filter((one) => one.deprecated !== undefined));
    expect(deprecated.length).toBeLessThan(20);
  });

  test('has short names, categories, scope and versions as discovery says', () => {
    expect(model.kinds.get('Deployment.apps')).toMatchObject({
      shortNames: ['deploy'],
      categories: ['all'],
      namespaced: true,
      versions: ['v1'],
    });
    expect(model.kinds.get('HorizontalPodAutoscaler.autoscaling')?.versions).toEqual(['v2', 'v1']);
    expect(model.kinds.get('Node')?.namespaced).toBe(false);
  });

  test('holds no name that is written by hand, none twice, and no kind inside another', () => {
    checkNames(model);
  });

  test('is joined with itself to itself', () => {
    expect(joinModels(model, parseModel(JSON.parse(committedModelText())))).toEqual({ model, conflicts: [] });
  });
});

describe('a document that is no model says where', () => {
  test.each<[string, unknown, string]>([
    ['text', 'x', 'not a model: the document: expected an object'],
    ['no kinds', { types: {} }, 'kinds: expected a list'],
    ['a kind without a name', { kinds: [{ group: '', source: 'BUILT_IN' }], types: {} }, 'kind: expected text'],
    ['a field that is a number', { kinds: [], types: { A: { b: 1 } } }, 'types.A.b: expected a type, or an object with one'],
    ['a type with a strange name', { kinds: [], types: { A: { b: 'a-b' } } }, 'types.A.b: expected the name of a type'],
    ['a type that is not there', { kinds: [], types: { A: { b: '[B]' } } }, 'types.A.b: expected a type of the document, not B'],
  ])('%s', (_, document, message) => {
    expect(() => parseModel(document)).toThrow(message);
  });
});

describe('built-in definitions', () => {
  const definitions: JsonObject = {
    'io.k8s.api.core.v1.Thing': {
      type: 'object',
      properties: {
        spec: { $ref: '#/definitions/io.k8s.api.core.v1.ThingSpec' },
        other: { $ref: '#/definitions/io.k8s.api.core.v1.Other' },
      },
      'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Thing' }],
    },
    'io.k8s.api.core.v1.ThingSpec': {
      properties: {
        again: { $ref: '#/definitions/io.k8s.api.core.v1.ThingSpec' },
        old: { type: 'string', description: 'Deprecated: no.' },
      },
    },
    'io.k8s.api.core.v1.Other': {
      properties: { name: { type: 'string' } },
      'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Other' }],
    },
    'io.k8s.api.core.v1.Binding': { 'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Binding' }] },
    'io.k8s.api.other.v1.ThingSpec': { properties: { name: { type: 'string' } } },
  };
  const thing: ServedResource = {
    ...{ group: '', kind: 'Thing', version: 'v1', versions: ['v1', 'v1alpha1'], resource: 'things', singular: 'thing', namespaced: true },
    ...{ verbs: ['list'], shortNames: [], categories: [] },
  };

  test('that refer to themselves are types that do', () => {
    const { types, kinds } = convertBuiltIns(definitions, [thing]);
    expect(types.get('ThingSpec')?.fields[0]?.type).toEqual({ type: 'ThingSpec' });
    expect(kinds.get('Thing')?.versions).toEqual(['v1']);
  });

  test('of a kind inside another are a type of their own, without cluster or id', () => {
    const { types } = convertBuiltIns(definitions, [thing, { ...thing, kind: 'Other', resource: 'others' }]);
    expect(types.get('Thing')?.fields.find(({ name }) => name === 'other')?.type).toEqual({ type: 'EmbeddedOther' });
  });

  test('that cannot be listed, and alpha ones, are left out', () => {
    const resources = [
      { ...thing, kind: 'Binding', verbs: ['create'] },
      { ...thing, version: 'v1alpha1' },
    ];
    expect([...convertBuiltIns(definitions, resources).kinds]).toEqual([]);
  });

  test('with one name, or a name written by hand, are refused', () => {
    const twice = {
      ...definitions,
      'io.k8s.api.core.v1.ThingSpec': { properties: { a: { $ref: '#/definitions/io.k8s.api.other.v1.ThingSpec' } } },
    };
    expect(() => convertBuiltIns(twice, [thing])).toThrow('expected one definition with the name ThingSpec');
    const reserved = {
      'io.k8s.api.core.v1.Cluster': { properties: {}, 'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Cluster' }] },
    };
    expect(() => convertBuiltIns(reserved, [{ ...thing, kind: 'Cluster' }])).toThrow('belongs to a type written by hand');
  });

  test('that are absent are refused', () => {
    expect(() => convertBuiltIns({}, [thing])).toThrow('expected a definition of /v1 Thing, got none');
  });

  test('joined with those of a later release keep removed fields, and report fields with nothing in common', () => {
    const before = convertBuiltIns(definitions, [thing]);
    const spec = { properties: { again: { type: 'boolean' }, fresh: { type: 'string' } } };
    const after = convertBuiltIns({ ...definitions, 'io.k8s.api.core.v1.ThingSpec': spec }, [thing]);
    const { model, conflicts } = joinModels(before, after);
    expect(model.types.get('ThingSpec')?.fields.map(({ name, type }) => `${name}: ${printTypeReference(type)}`)).toEqual([
      'again: JSON',
      'fresh: String',
      'old: String',
    ]);
    expect(conflicts).toEqual(['ThingSpec.again']);
    expect(joinModels(after, before)).toEqual({ model, conflicts });
  });
});

describe.skipIf(corpusOpenApi === undefined)('two real releases', () => {
  const converted = new Map(
    [...(corpusOpenApi ?? [])].map(([version, definitions]) => [version, convertBuiltIns(definitions, resourcesIn(definitions))]),
  );
  const [older, newer] = [...converted.keys()].sort().map((version) => converted.get(version)) as [Model, Model];

  test('join without a conflict, whichever comes first', () => {
    const joined = joinModels(older, newer);
    expect(joined.conflicts).toEqual([]);
    expect(joinModels(newer, older)).toEqual(joined);
    expect(joined.model.types.size).toBeGreaterThanOrEqual(newer.types.size);
    checkNames(joined.model);
  });

  test('and the newer one is what is committed', () => {
    const committed = committedModel();
    expect([...newer.kinds.keys()].sort()).toEqual([...committed.kinds.keys()].sort());
    for (const [name, { fields }] of newer.types) {
      const types = fields.map((field) => `${field.key}: ${printTypeReference(field.type)}`);
      expect(committed.types.get(name)?.fields.map((field) => `${field.key}: ${printTypeReference(field.type)}`)).toEqual(
        expect.arrayContaining(types),
      );
    }
  });
});

/** The corpus has no discovery. The resources come from the committed model, at the version of the definitions. */
function resourcesIn(definitions: JsonObject): readonly ServedResource[] {
  const text = JSON.stringify(Object.values(definitions));
  return [...committedModel().kinds.values()].flatMap(({ plural, ...kind }): ServedResource[] => {
    const version = kind.versions.find((one) => text.includes(JSON.stringify([{ group: kind.group, kind: kind.kind, version: one }])));
    return version === undefined ? [] : [{ ...kind, resource: plural, version, verbs: ['list'] }];
  });
}

function checkNames({ types, kinds }: Model): void {
  const kindTypes = new Set([...kinds.values()].map(({ type }) => type));
  const names = [...types.keys(), ...[...kindTypes].flatMap((type) => companionSuffixes.map((suffix) => `${type}${suffix}`))];
  const own = names.filter((name) => !['PodChanges'].includes(name));
  expect(own.filter((name) => reservedTypeNames.has(name))).toEqual([]);
  expect(new Set(own).size).toBe(own.length);
  const roots = [...kinds.values()].flatMap(({ many, one }) => [many, one]);
  expect(new Set(roots).size).toBe(roots.length);
  const wrong = [...types.values()].flatMap(({ name, fields }) =>
    fields
      .filter((field) => {
        const target = printTypeReference(field.type).replace(/[[\]]/g, '');
        return kindTypes.has(target) || (kindTypes.has(name) && resourceFieldNames.has(field.name));
      })
      .map((field) => `${name}.${field.name}`),
  );
  expect(wrong).toEqual([]);
  expect([...kinds.entries()].filter(([key, kind]) => key !== keyOfKind(kind))).toEqual([]);
}
