import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { convertDefinition } from '../../../src/model/convert-definition.ts';
import { createModel } from '../../../src/model/create-model.ts';
import { objectMeta } from '../../../src/model/hand-written-types.ts';
import type { Model, ModelField, ModelKind, TypeReference } from '../../../src/model/model.ts';
import { printTypeReference } from '../../../src/model/model.ts';
import { parsePath, printPath } from '../../../src/model/path-text.ts';
import { findPath, findPathFrom, isMisfit, type ModelPath, type PathMisfit } from '../../../src/model/paths/paths.ts';
import { committedModel, fixtureDefinition } from '../../support/graph/corpus.ts';

const fixtures = ['widgets-north', 'names', 'free'].map((name) => convertDefinition(fixtureDefinition(name)));
const { model } = createModel({ baseline: committedModel(), custom: fixtures, prefixes: new Map() });

const resolvePath = (...path: Parameters<typeof findPath>) => orThrow(findPath(...path));
const resolvePathFrom = (...path: Parameters<typeof findPathFrom>) => orThrow(findPathFrom(...path));

function orThrow(found: ModelPath | PathMisfit): ModelPath {
  if (isMisfit(found)) throw found.error();
  return found;
}

describe('a text', () => {
  test.each<[string, readonly string[]]>([
    ['spec', ['spec']],
    ['spec.replicas', ['spec', 'replicas']],
    ['metadata.labels["a.b/c"]', ['metadata', 'labels', 'a.b/c']],
    ["metadata.labels['a.b/c']", ['metadata', 'labels', 'a.b/c']],
    ['metadata.labels.app', ['metadata', 'labels', 'app']],
    ['["a"]["b"].c', ['a', 'b', 'c']],
    ['a["with \\"quotes\\" and \\u00e9"]', ['a', 'with "quotes" and é']],
    ['metadata.labels.a/b', ['metadata', 'labels', 'a/b']],
  ])('%s has these segments', (text, segments) => {
    expect(parsePath(text)).toEqual(segments);
  });

  test.each([
    '',
    '.',
    '.a',
    'a.',
    'a..b',
    'a b',
    'a[0]',
    'a[b]',
    'a["]',
    'a["b"]c',
    'a[""]',
    'a["\\x"]',
    'a'.repeat(1_025),
    Array(33).fill('a').join('.'),
  ])('%s is no path', (text) => {
    expect(parsePath(text)).toBeUndefined();
  });

  test('printed from segments is parsed to the same', () => {
    const segment = fc.oneof(fc.string({ minLength: 1, maxLength: 20 }), fc.constantFrom('a', 'a.b/c', '"', "'", ']', '\\', 'é'));
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 8 }), (segments) => {
        expect(parsePath(printPath(segments))).toEqual(segments);
      }),
    );
  });
});

describe('a path', () => {
  test.each<[string, string, string, string]>([
    // The columns are kind, path, steps (with a * after steps through a list) and type.
    ['Deployment.apps', 'spec.replicas', 'spec replicas', 'Int'],
    ['Deployment.apps', 'spec', 'spec', 'DeploymentSpec'],
    ['Deployment.apps', 'spec.template.spec.containers.image', 'spec template spec containers* image', 'String'],
    ['Pod', 'spec.containers', 'spec containers*', 'Container'],
    ['Pod', 'spec.containers.args', 'spec containers* args*', 'String'],
    ['Pod', 'spec.containers.resources.requests.cpu', 'spec containers* resources requests cpu', 'Quantity'],
    ['Pod', 'spec.containers.resources.requests["nvidia.com/gpu"]', 'spec containers* resources requests nvidia.com/gpu', 'Quantity'],
    ['Pod', 'spec.containers.resources.requests.ephemeralStorage', 'spec containers* resources requests ephemeral-storage', 'Quantity'],
    ['Pod', 'spec.containers.resources.limits.memoryBytes', 'spec containers* resources limits memory', 'Quantity'],
    ['Pod', 'metadata.name', 'metadata name', 'String'],
    ['Pod', 'metadata.labels', 'metadata labels', 'StringMap'],
    ['Pod', 'metadata.labels.app', 'metadata labels app', 'String'],
    ['Pod', 'metadata.labels["app.kubernetes.io/name"]', 'metadata labels app.kubernetes.io/name', 'String'],
    ['Pod', 'metadata.creationTimestamp', 'metadata creationTimestamp', 'DateTime'],
    ['Pod', 'metadata.ownerReferences.uid', 'metadata ownerReferences* uid', 'String'],
    ['Deployment.apps', 'spec.template.metadata.labels.app', 'spec template metadata labels app', 'String'],
    ['StatefulSet.apps', 'spec.volumeClaimTemplates.spec.storageClassName', 'spec volumeClaimTemplates* spec storageClassName', 'String'],
    ['Free.example.com', 'spec.anything', 'spec anything', 'JSON'],
    ['Free.example.com', 'spec.anything.a.b', 'spec anything* a* b', 'JSON'],
    ['Free.example.com', 'spec.matrix', 'spec matrix*', 'Float'],
    ['Names.odd.example.org', 'spec._proto__', 'spec __proto__', 'String'],
    ['Names.odd.example.org', 'spec.foo_bar_', 'spec foo-bar', 'String'],
    ['Names.odd.example.org', 'cluster_', 'cluster', 'String'],
  ])('of %s: %s', (kind, text, steps, type) => {
    const path = resolvePath(model, kindOf(kind), text);
    expect(path.steps.map(({ key, list }) => `${key}${list ? '*' : ''}`).join(' ')).toBe(steps);
    expect(printTypeReference(path.type)).toBe(type);
    expect(path).toMatchObject({ text, from: 'object', many: steps.includes('*') });
  });

  test('may begin with the cluster', () => {
    expect(resolvePath(model, kindOf('Pod'), 'cluster.region')).toEqual({
      text: 'cluster.region',
      from: 'cluster',
      steps: [{ key: 'region', list: false }],
      type: { scalar: 'String' },
      many: false,
    });
    expect(resolvePath(model, kindOf('Pod'), 'cluster.labels["a.b/c"]').steps.map(({ key }) => key)).toEqual(['labels', 'a.b/c']);
    expect(resolvePath(model, kindOf('Pod'), 'cluster.zones')).toMatchObject({ many: true, type: { scalar: 'String' } });
  });

  test.each([
    ['Pod', 'phase', 'phase', '', 'String'],
    ['Pod', 'restarts', 'restarts', '', 'Int'],
    ['Pod', 'requests', 'requests', '', 'ResourceList'],
    ['Pod', 'requests.ephemeralStorage', 'requests', 'ephemeral-storage', 'Quantity'],
    ['Pod', 'requests["nvidia.com/gpu"]', 'requests', 'nvidia.com/gpu', 'Quantity'],
    ['Pod', 'requests.cpuCores', 'requests', 'cpu', 'Quantity'],
    ['Pod', 'requests["cpuCores"]', 'requests', 'cpuCores', 'Quantity'],
    ['Pod', "requests['memoryBytes']", 'requests', 'memoryBytes', 'Quantity'],
    ['Pod', 'requests["ephemeralStorage"]', 'requests', 'ephemeralStorage', 'Quantity'],
    ['Node', 'ready', 'ready', '', 'Boolean'],
    ['Deployment.apps', 'rollout.done', 'rollout', 'done', 'Boolean'],
    ['Event', 'lastSeen', 'lastSeen', '', 'DateTime'],
  ])('of %s may begin with a column: %s', (kind, text, column, steps, type) => {
    const path = resolvePath(model, kindOf(kind), text);
    expect(path).toMatchObject({ text, from: 'column', column: { name: column }, many: false });
    expect(path.steps.map(({ key }) => key).join(' ')).toBe(steps);
    expect(printTypeReference(path.type)).toBe(type);
  });

  test.each([
    ['Pod', 'node.metadata.labels["a.b/c"]', 'node', 'object', 'metadata labels a.b/c', 'String'],
    ['Pod', 'node.spec.taints.key', 'node', 'object', 'spec taints* key', 'String'],
    ['Pod', 'node.ready', 'node', 'column', '', 'Boolean'],
    ['Pod', 'node.kind', 'node', 'served', 'kind', 'String'],
    ['Pod', 'owner.metadata.name', 'owner', 'object', 'metadata name', 'String'],
    ['Widget.example.com', 'owner.apiVersion', 'owner', 'served', 'apiVersion', 'String'],
    ['Deployment.apps', 'owner.metadata.ownerReferences.uid', 'owner', 'object', 'metadata ownerReferences* uid', 'String'],
  ])('of %s may begin with a relation: %s', (kind, text, name, from, steps, type) => {
    const path = resolvePath(model, kindOf(kind), text);
    expect(path).toMatchObject({ text, from: 'relation', relation: { name }, within: { from }, many: steps.includes('*') });
    expect(path.steps.map(({ key, list }) => `${key}${list ? '*' : ''}`).join(' ')).toBe(steps);
    expect(printTypeReference(path.type)).toBe(type);
  });

  test('may ask how the object was read', () => {
    expect(resolvePath(model, kindOf('Pod'), 'apiVersion')).toEqual({
      text: 'apiVersion',
      from: 'served',
      steps: [{ key: 'apiVersion', list: false }],
      type: { scalar: 'String' },
      many: false,
    });
    expect(resolvePath(model, kindOf('Pod'), 'kind').from).toBe('served');
  });

  test('may begin at the elements of a list', () => {
    const containers = resolvePath(model, kindOf('Pod'), 'spec.containers').type;
    expect(resolvePathFrom(model, containers, 'ports.containerPort')).toMatchObject({
      from: 'object',
      steps: [
        { key: 'ports', list: true },
        { key: 'containerPort', list: false },
      ],
      type: { scalar: 'Int' },
    });
    expect(resolvePathFrom(model, { scalar: 'JSON' }, 'a.b').type).toEqual({ scalar: 'JSON' });
  });
});

describe('an unknown path of a kind is refused with a suggestion', () => {
  test.each([
    ['Deployment.apps', 'spec.replcas', 'no field spec.replcas in Deployment; did you mean spec.replicas?'],
    ['Pod', 'metdata.name', 'no field metdata in Pod; did you mean metadata?'],
    ['Pod', 'name', 'no field name in Pod; did you mean metadata.name?'],
    ['Pod', 'restrats', 'no field restrats in Pod; did you mean restarts?'],
    ['StatefulSet.apps', 'rollout.don', 'no field rollout.don in StatefulSet; did you mean rollout.done?'],
    ['Pod', 'phase.x', 'no field phase.x in Pod: phase has the type String, which has no fields'],
    ['Widget.example.com', 'restarts', 'no field restarts in Widget'],
    ['Deployment.apps', 'replicas', 'no field replicas in Deployment; did you mean spec.replicas?'],
    ['Pod', 'spec.containers.immage', 'no field spec.containers.immage in Pod; did you mean spec.containers.image?'],
    ['Pod', 'spec.zzzzzzzz', 'no field spec.zzzzzzzz in Pod'],
    ['Pod', 'spec.nodeName.x', 'no field spec.nodeName.x in Pod: spec.nodeName has the type String, which has no fields'],
    [
      'Pod',
      'metadata.labels.app.kubernetes.io/name',
      'no field metadata.labels.app.kubernetes.io/name in Pod; a key with dots must be in brackets: did you mean metadata.labels["app.kubernetes.io/name"]?',
    ],
    ['Pod', 'cluster', 'expected a field of the cluster, such as cluster.name or cluster.region, got cluster'],
    ['Pod', 'cluster.regoin', 'no field cluster.regoin in Pod; did you mean cluster.region?'],
    ['Pod', 'node', 'expected a field of the node, such as node.metadata.name, got node'],
    ['Pod', 'nodes.metadata.name', 'no field nodes in Pod; did you mean node?'],
    ['Pod', 'node.metdata.name', 'no field node.metdata in Pod; did you mean node.metadata?'],
    ['Pod', 'node.name', 'no field node.name in Pod; did you mean node.metadata.name?'],
    ['Pod', 'node.raedy', 'no field node.raedy in Pod; did you mean node.ready?'],
    ['Pod', 'owner.name', 'no field owner.name in Pod; did you mean owner.metadata.name?'],
    ['Pod', 'owner.spec.replicas', 'no field owner.spec in Pod'],
    ['Pod', 'owner.node.ready', 'no field owner.node in Pod'],
    ['Job.batch', 'node.ready', 'no field node in Job'],
    ['Job.batch', 'ownr.kind', 'no field ownr in Job; did you mean owner?'],
    ['Pod', 'kind.x', 'no field kind.x in Pod: kind has the type String, which has no fields'],
    [
      'Pod',
      'spec.containers[0].image',
      'expected a path such as spec.replicas or metadata.labels["a.b/c"], got "spec.containers[0].image"; leave out [0]: a path through a list matches if any element does',
    ],
    ['Pod', 'spec.__proto__', 'no field spec.__proto__ in Pod'],
    ['Pod', 'constructor', 'no field constructor in Pod'],
    ['Names.odd.example.org', 'spec.foo-bar', 'no field spec.foo-bar in Names; did you mean spec.foo_bar?'],
  ])('%s %s', (kind, text, message) => {
    expect(() => resolvePath(model, kindOf(kind), text)).toThrow(expect.objectContaining({ code: 'BAD_INPUT', message }));
  });

  test('within the elements of a list', () => {
    expect(() => resolvePathFrom(model, { type: 'Container' }, 'nmae')).toThrow('no field nmae in Container; did you mean name?');
    expect(() => resolvePathFrom(model, { scalar: 'String' }, 'x')).toThrow(
      'no field x in String: it has the type String, which has no fields',
    );
  });

  test('without an end: a long word is cut', () => {
    expect(() => resolvePath(model, kindOf('Pod'), 'x'.repeat(1_000))).toThrow(/^no field x{80} in Pod$/);
  });
});

test('every path that the types of the model spell, four fields deep, resolves to the type of its last field', () => {
  const wrong: string[] = [];
  let paths = 0;
  for (const kind of model.kinds.values()) {
    for (const { names, field } of pathsOf(model, kind)) {
      paths++;
      const resolved = resolvePath(model, kind, names.join('.'));
      if (printTypeReference(resolved.type) !== printTypeReference(elementOf(field.type)) || resolved.steps.at(-1)?.key !== field.key) {
        wrong.push(names.join('.'));
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(paths).toBeGreaterThan(3_000);
});

function kindOf(key: string): ModelKind {
  const kind = model.kinds.get(key);
  if (kind === undefined) throw new Error(`no kind ${key}`);
  return kind;
}

interface Spelt {
  readonly names: readonly string[];
  readonly field: ModelField;
}

function pathsOf({ types }: Model, kind: ModelKind): readonly Spelt[] {
  const below = (fields: readonly ModelField[], before: readonly string[]): readonly Spelt[] =>
    fields.flatMap((field) => {
      const names = [...before, field.name];
      const type = elementOf(field.type);
      const inner = 'type' in type && names.length < 4 ? (types.get(type.type)?.fields ?? []) : [];
      return [{ names, field }, ...below(inner, names)];
    });
  return [...below(types.get(kind.type)?.fields ?? [], []), ...below(objectMeta.fields, ['metadata'])];
}

function elementOf(type: TypeReference): TypeReference {
  return 'list' in type ? elementOf(type.list) : type;
}
