import { describe, expect, test, vi } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { type Json, parseJsonExactly } from '../../../src/core/json.ts';
import * as near from '../../../src/core/nearest-word.ts';
import type { Model, ModelKind, TypeReference } from '../../../src/model/model.ts';
import * as paths from '../../../src/model/paths/paths.ts';
import { compileWhere } from '../../../src/store/filter/where.ts';
import type { WhereInput } from '../../../src/store/filter/where-input.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';
import { loadBaseline } from '../../support/kubernetes-objects.ts';
import { other, sample, smallModel, sourceOf, sourceOfSpecs } from '../../support/store/query-sources.ts';
import { runQuery } from '../../support/store/store-at-once.ts';
import { objectOf } from '../../support/store/store-objects.ts';

vi.mock('../../../src/core/nearest-word.ts', { spy: true });
vi.mock('../../../src/model/paths/paths.ts', { spy: true });

/** Returns the names of the matching objects. */
function found(source: QuerySource, where: WhereInput, kinds: readonly ModelKind[] = [sample]): readonly string[] {
  const matches = compileWhere(smallModel, kinds, where).predicateFor(source);
  return [...source.store.objects()].filter(matches).map(({ metadata }) => metadata.name);
}

function refusal(where: WhereInput, kinds: readonly ModelKind[] = [sample]): string {
  try {
    compileWhere(smallModel, kinds, where);
  } catch (error) {
    if (error instanceof MusterError && error.code === 'BAD_INPUT') return error.message;
    throw error;
  }
  throw new Error('not refused');
}

describe('compares by type:', () => {
  const cases: readonly (readonly [string, WhereInput, readonly string[], readonly number[]])[] = [
    ['text by code units', { path: 'spec.text', gte: 'a' }, ['"a"', '"Z"', '"é"', '"aa"', '5', 'null'], [0, 2, 3]],
    ['text exactly', { path: 'spec.text', eq: 'Web' }, ['"Web"', '"web"', '" Web"', '["Web"]'], [0]],
    [
      'A16: parts of text, never as a regular expression',
      { path: 'spec.text', contains: 'b.c' },
      ['"ab.cd"', '"abxcd"', '"b.c"', '7'],
      [0, 2],
    ],
    ['beginnings of text', { path: 'spec.text', startsWith: 'ng' }, ['"nginx"', '"ng"', '"angi"', 'null'], [0, 1]],
    ['an empty text', { path: 'spec.text', eq: '' }, ['""', 'null', '"x"'], [0]],
    ['truth', { path: 'spec.flag', eq: true }, ['true', 'false', 'null', '"true"'], [0]],
    ['truth that differs', { path: 'spec.flag', ne: true }, ['true', 'false', 'null'], [1, 2]],
    ['integers', { path: 'spec.count', gt: 2 }, ['2', '3', '-3', '10', '"9"'], [1, 3]],
    ['integers against fractions', { path: 'spec.count', lt: 2.5 }, ['2', '3'], [0]],
    ['large integers', { path: 'spec.big', eq: '9007199254740993' }, ['9007199254740992', '9007199254740993', '9007199254740994'], [1]],
    [
      'large integers in order',
      { path: 'spec.big', gt: '9007199254740992' },
      ['9007199254740992', '9007199254740993', '9007199254740991'],
      [1],
    ],
    ['small integers given as text', { path: 'spec.big', in: ['7', 8] }, ['7', '8', '9', '"7"'], [0, 1, 3]],
    ['fractions', { path: 'spec.ratio', lte: 0.5 }, ['0.5', '0.50001', '-1', '0'], [0, 2, 3]],
    [
      'instants in any zone',
      { path: 'spec.at', eq: '2026-01-01T01:00:00+01:00' },
      ['"2026-01-01T00:00:00Z"', '"2026-01-01T00:00:00.000000Z"', '"2026-01-01T01:00:00Z"', '"?"'],
      [0, 1],
    ],
    [
      'instants by microseconds',
      { path: 'spec.at', gt: '2026-01-01T00:00:00.000001Z' },
      ['"2026-01-01T00:00:00.000002Z"', '"2026-01-01T00:00:00Z"', 'null'],
      [0],
    ],
    ['quantities', { path: 'spec.amount', gt: '0.2' }, ['"250m"', '"200m"', '"1"', '"1n"', '0.3', '"x"'], [0, 2, 4]],
    ['equal quantities', { path: 'spec.amount', in: ['1Gi', '500m'] }, ['"1024Mi"', '"0.5"', '"1G"', '1073741824'], [0, 1, 3]],
    ['quantities against numbers', { path: 'spec.amount', gte: 1 }, ['"1"', '"1000m"', '"999m"'], [0, 1]],
    ['durations', { path: 'spec.wait', lt: '1h' }, ['"59m"', '"60m"', '"3599s"', '"1h1s"'], [0, 2]],
    ['bytes as text', { path: 'spec.blob', eq: 'aGk=' }, ['"aGk="', '"aGk"'], [0]],
    ['numbers among IntOrString', { path: 'spec.port', gte: 80 }, ['80', '"80"', '443', '"https"'], [0, 2]],
    ['texts among IntOrString', { path: 'spec.port', eq: '80' }, ['80', '"80"'], [1]],
    [
      'maps by structure',
      { path: 'spec.tags', eq: { a: '1', b: '2' } },
      ['{"b":"2","a":"1"}', '{"a":"1"}', '{"a":"1","b":"2","c":"3"}'],
      [0],
    ],
    ['keys of maps', { path: 'spec.tags["a.b/c"]', eq: 'x' }, ['{"a.b/c":"x"}', '{"a":{"b/c":"x"}}'], [0]],
    [
      'keys that everything inherits',
      { path: 'spec.tags.constructor', exists: true },
      ['{}', '{"constructor":"x"}', '{"__proto__":"x"}'],
      [1],
    ],
    ['JSON by structure', { path: 'spec.any', eq: { a: [1, { b: null }] } }, ['{"a":[1,{"b":null}]}', '{"a":[1,{}]}'], [0]],
    ['JSON numbers', { path: 'spec.any', gt: 1 }, ['2', '1', '"2"', '[2]', '{}', 'true'], [0]],
    ['JSON texts', { path: 'spec.any', contains: 'x' }, ['"axb"', '["x"]', '1'], [0]],
    ['JSON in lists', { path: 'spec.any', in: [[1], 'a'] }, ['[1]', '"a"', '1', '["a"]'], [0, 1]],
    [
      'paths into JSON',
      { path: 'spec.any.list.a', eq: 1 },
      ['{"list":[{"a":2},{"a":1}]}', '{"list":{"a":1}}', '{"list":[[{"a":1}]]}', '{"a":1}'],
      [0, 1, 2],
    ],
    [
      'large integers in JSON',
      { path: 'spec.any', eq: parseJsonExactly('9007199254740993') },
      ['9007199254740993', '9007199254740992', '{"rawJSON":"9007199254740993"}'],
      [0],
    ],
    ['what looks like an exact integer', { path: 'spec.any.rawJSON', exists: true }, ['9007199254740993', '{"rawJSON":"1"}'], [1]],
  ];

  test.each(cases)('%s', (_, where, values, indexes) => {
    const field = (where.path ?? '').split(/[.[]/)[1] ?? '';
    const source = sourceOfSpecs(...values.map((value) => `{"${field}":${value}}`));
    expect(found(source, where)).toEqual(indexes.map((index) => `s${index}`));
  });

  test('compares with each of many operands, and with nothing between them', () => {
    const source = sourceOfSpecs(...Array.from({ length: 101 }, (_, count) => `{"count":${count}}`));
    const even = Array.from({ length: 51 }, (_, index) => 100 - 2 * index);
    for (const length of [1, 2, 3, 50, 51]) {
      const operands = even.slice(0, length);
      expect(found(source, { path: 'spec.count', in: operands })).toEqual(operands.toReversed().map((count) => `s${count}`));
    }
  });

  test('resource lists by quantity', () => {
    const source = sourceOfSpecs('{"limits":{"cpu":"250m","memory":"64Mi"}}', '{"limits":{"cpu":"1"}}', '{}');
    expect(found(source, { path: 'spec.limits.cpu', gt: '0.5' })).toEqual(['s1']);
    expect(found(source, { path: 'spec.limits.memory', lte: '67108864' })).toEqual(['s0']);
  });
});

describe('handles absent values', () => {
  const source = sourceOfSpecs('{"text":"x"}', '{"text":null}', '{}', '{"names":[]}', '{"names":["a"]}');

  test.each<[WhereInput, readonly string[]]>([
    [{ path: 'spec.text', exists: true }, ['s0']],
    [{ path: 'spec.text', exists: false }, ['s1', 's2', 's3', 's4']],
    [{ path: 'spec.text', ne: 'x' }, ['s1', 's2', 's3', 's4']],
    [{ path: 'spec.text', lt: 'zzz' }, ['s0']],
    [{ path: 'spec.text', in: [] }, []],
    [{ path: 'spec.names', exists: true }, ['s4']],
    [{ path: 'spec.names', exists: false }, ['s0', 's1', 's2', 's3']],
    [{ path: 'spec', exists: true }, ['s0', 's1', 's2', 's3', 's4']],
    [{ path: 'spec.one.name', exists: false, ne: 'x' }, ['s0', 's1', 's2', 's3', 's4']],
  ])('%j', (where, names) => {
    expect(found(source, where)).toEqual(names);
  });
});

describe('handles lists', () => {
  const source = sourceOfSpecs(
    '{"parts":[{"name":"a","size":1,"zones":["x","y"]},{"name":"b","size":9,"zones":["z"]}]}',
    '{"parts":[{"name":"a","size":9}]}',
    '{"parts":[{"name":"b"}],"names":["p","q"]}',
    '{"parts":[]}',
    '{"any":[{"n":1,"m":2},{"n":2,"m":1}]}',
  );

  test.each<[string, WhereInput, readonly string[]]>([
    ['match if any element does', { path: 'spec.parts.name', eq: 'a' }, ['s0', 's1']],
    ['of lists match too', { path: 'spec.parts.zones', eq: 'z' }, ['s0']],
    ['equal nothing only if no element equals', { path: 'spec.parts.name', ne: 'a' }, ['s2', 's3', 's4']],
    [
      'may meet each condition in another element',
      {
        and: [
          { path: 'spec.parts.name', eq: 'a' },
          { path: 'spec.parts.size', gt: 5 },
        ],
      },
      ['s0', 's1'],
    ],
    ['meet all of some in one', { path: 'spec.parts', some: { path: 'name', eq: 'a', and: [{ path: 'size', gt: 5 }] } }, ['s1']],
    ['nest some', { path: 'spec.parts', some: { path: 'zones', some: { eq: 'y' } } }, ['s0']],
    ['take some that is not', { path: 'spec.parts', some: { not: { path: 'name', eq: 'a' } } }, ['s0', 's2']],
    ['of values take some without a path', { path: 'spec.names', some: { startsWith: 'q' } }, ['s2']],
    [
      'inside JSON take some',
      {
        path: 'spec.any',
        some: {
          and: [
            { path: 'n', eq: 1 },
            { path: 'm', eq: 1 },
          ],
        },
      },
      [],
    ],
    [
      'inside JSON are walked',
      {
        path: 'spec.any',
        some: {
          and: [
            { path: 'n', eq: 2 },
            { path: 'm', eq: 1 },
          ],
        },
      },
      ['s4'],
    ],
  ])('%s', (_, where, names) => {
    expect(found(source, where)).toEqual(names);
  });
});

describe('handles logic', () => {
  const source = sourceOfSpecs('{"count":1,"text":"a"}', '{"count":2,"text":"a"}', '{"count":3,"text":"b"}');

  test.each<[WhereInput, readonly string[]]>([
    [{}, ['s0', 's1', 's2']],
    [{ and: [] }, ['s0', 's1', 's2']],
    [{ or: [] }, []],
    [{ not: { or: [] } }, ['s0', 's1', 's2']],
    [{ path: 'spec.count', gt: 1, lt: 3 }, ['s1']],
    [{ path: 'spec.count', gt: 1, and: [{ path: 'spec.text', eq: 'a' }], not: { path: 'spec.count', eq: 3 } }, ['s1']],
    [
      {
        or: [
          { path: 'spec.count', eq: 1 },
          { path: 'spec.text', eq: 'b' },
        ],
      },
      ['s0', 's2'],
    ],
    [{ not: { path: 'spec.count', gt: 1 } }, ['s0']],
    [
      { path: 'spec.count', eq: 1, ne: null, in: null, lt: null, contains: null, exists: null, some: null, and: null, or: null, not: null },
      ['s0'],
    ],
  ])('%j', (where, names) => {
    expect(found(source, where)).toEqual(names);
  });
});

test('filters by the cluster, and by the version under which an object is read', () => {
  const facts = { labels: { 'example.com/tier': 'gold' }, region: 'eu', zones: ['eu-1', 'eu-2'], provider: 'kind', version: 'v1.36.3' };
  const source = sourceOf({ cluster: 'north', facts, objects: [objectOf({ name: 'a' })] });
  for (const where of [
    { path: 'cluster.name', in: ['north', 'south'] },
    { path: 'cluster.labels["example.com/tier"]', eq: 'gold' },
    { path: 'cluster.region', startsWith: 'e' },
    { path: 'cluster.zones', eq: 'eu-2' },
    { path: 'cluster.phase', ne: 'UNREACHABLE' },
    { path: 'kind', eq: 'Sample' },
    { path: 'apiVersion', eq: 'example.com/v1' },
  ]) {
    expect([where, found(source, where)]).toEqual([where, ['a']]);
    expect([where, found(source, { not: where })]).toEqual([where, []]);
  }
  expect(found(sourceOf({ objects: [objectOf({ name: 'a' })] }), { path: 'cluster.region', exists: true })).toEqual([]);
});

describe('several kinds', () => {
  const samples = sourceOf({ objects: [objectOf({ name: 'a', spec: { text: 'x', count: 1 } })] });
  const others = sourceOf({ kind: other, objects: [objectOf({ name: 'b', spec: { text: 1, only: 'y' } })] });
  const both = (where: WhereInput) => [...found(samples, where, [sample, other]), ...found(others, where, [sample, other])];

  test('have no value at paths of other kinds', () => {
    expect(both({ path: 'spec.only', eq: 'y' })).toEqual(['b']);
    expect(both({ path: 'spec.only', ne: 'y' })).toEqual(['a']);
    expect(both({ path: 'spec.only', exists: false })).toEqual(['a']);
    expect(both({ path: 'spec.only', exists: false, eq: 'y' })).toEqual([]);
    expect(both({ path: 'spec.parts', some: { path: 'name', eq: 'x' } })).toEqual([]);
    expect(both({ not: { path: 'spec.count', eq: 1 } })).toEqual(['b']);
    // A number fits the JSON of one kind, but not the text of the other.
    expect(both({ path: 'spec.text', eq: 1 })).toEqual(['b']);
  });

  test('must include one kind with the path', () => {
    const none: WhereInput = { path: 'spec.none', eq: 1 };
    expect(refusal({ or: [{ path: 'spec.only', eq: 'y' }, none] }, [sample, other])).toMatch(/no field spec\.none/);
    expect(refusal({ and: [none, none] }, [sample, other])).toMatch(/no field spec\.none/);
    const twice: WhereInput = { path: 'spec.only', eq: 'y' };
    expect(both({ and: [twice, twice] })).toEqual(['b']);
  });
});

describe('refuses', () => {
  const tooMany = Array.from({ length: 101 }, () => ({ path: 'spec.text', eq: 'x' }));
  const nested = (levels: number): WhereInput => (levels === 0 ? { path: 'spec.text', eq: 'x' } : { not: nested(levels - 1) });
  const deep = (levels: number): Json => (levels === 0 ? 1 : [deep(levels - 1)]);

  test.each<[string, WhereInput, RegExp]>([
    ['a field that is not there', { path: 'spec.txt', eq: 'x' }, /^no field spec\.txt in Sample\b.*; did you mean spec\.text\?$/],
    ['no path', { eq: 'x' }, /expected a path/],
    ['no comparison', { path: 'spec.text' }, /expected a comparison next to the path spec\.text/],
    ['only null', { path: 'spec.text', eq: null, ne: null }, /expected a comparison next to the path spec\.text.*exists: false/],
    ['a number for a text', { path: 'spec.text', eq: 5 }, /expected a text for eq on spec\.text, which is a String, got 5/],
    ['a text for a number', { path: 'spec.count', gt: '5' }, /expected a number for gt on spec\.count, which is a Int, got "5"/],
    ['a word for a large number', { path: 'spec.big', eq: '5x' }, /expected a number, or beyond 2\^53-1 its digits as text/],
    ['a rounded number', { path: 'spec.big', eq: 9_007_199_254_740_992 }, /may be rounded/],
    ['a rounded number in JSON', { path: 'spec.any', in: [2 ** 60] }, /may be rounded/],
    ['a text for truth', { path: 'spec.flag', eq: 'true' }, /expected true or false/],
    [
      'an order of truth',
      { path: 'spec.flag', lt: true },
      /expected one of eq, ne, in or exists on spec\.flag, which is a Boolean, got lt/,
    ],
    ['a day that is none', { path: 'spec.at', gt: '2026-02-30T00:00:00Z' }, /expected an RFC 3339 time/],
    ['a date alone', { path: 'spec.at', gt: '2026-01-01' }, /expected an RFC 3339 time/],
    ['a quantity that is none', { path: 'spec.amount', in: ['1', '1 GB'] }, /expected a quantity.* for in on spec\.amount.*got "1 GB"/],
    ['a duration that is none', { path: 'spec.wait', lt: '1d' }, /expected a duration/],
    ['a part of a number', { path: 'spec.count', contains: '1' }, /got contains/],
    ['a part of a map', { path: 'spec.tags', contains: 'a' }, /got contains/],
    ['a map of numbers', { path: 'spec.tags', eq: { a: 1 } }, /expected a map of texts.*got a map/],
    ['an order of lists', { path: 'spec.any', lt: [1] }, /expected a number or a text for lt on spec\.any, got a list/],
    ['a value that is a whole object', { path: 'spec.one', eq: {} }, /expected a field of spec\.one to compare, which is a ExamplePart/],
    ['some of what is no list', { path: 'spec.one', some: { path: 'name', eq: 'x' } }, /expected a list for some, got spec\.one/],
    ['some without a path where elements have fields', { path: 'spec.parts', some: { eq: 'x' } }, /expected a field of the element/],
    ['a wrong path in some', { path: 'spec.parts', some: { path: 'nam', eq: 'x' } }, /no field nam in ExamplePart; did you mean name\?/],
    ['101 conditions', { or: tooMany }, /at most 100 conditions, got 101 or more/],
    [
      '101 conditions on all levels',
      { and: tooMany.map((level, index) => (index % 2 === 0 ? { not: level } : { or: [level] })) },
      /at most 100 conditions/,
    ],
    ['two in one level', { or: tooMany.slice(0, 51).map((level) => ({ ...level, exists: true })) }, /at most 100 conditions/],
    ['1,001 values', { path: 'spec.text', in: Array.from({ length: 1_001 }, () => 'x') }, /at most 1000 values of in, got 1001 or more/],
    ['many empty levels', { and: Array.from({ length: 101 }, () => ({})) }, /at most 100 conditions/],
    ['17 levels', nested(16), /at most 16 levels/],
    ['levels beyond counting', nested(5_000), /at most 16 levels/],
    ['JSON of 65 levels', { path: 'spec.any', eq: deep(65) }, /at most 64 deep/],
  ])('%s', (_, where, message) => {
    expect(refusal(where)).toMatch(message);
  });

  test('accepts everything within the limits', () => {
    const source = sourceOfSpecs('{"text":"x","any":1}');
    expect(found(source, nested(15))).toEqual([]);
    expect(found(source, { or: tooMany.slice(0, 100) })).toEqual(['s0']);
    expect(found(source, { path: 'spec.text', in: Array.from({ length: 1_000 }, () => 'x') })).toEqual(['s0']);
    expect(found(source, { path: 'spec.any', ne: deep(64) })).toEqual(['s0']);
  });
});

describe('gives the same for few objects as for many, with an index on spec.nodeName', () => {
  const nodeNamed: readonly (readonly [string, TypeReference, Json, string])[] = [
    ['a text', { scalar: 'String' }, 'n1', 'n1'],
    ['a list', { list: { scalar: 'String' } }, ['n1', 'n2'], 'n1'],
    ['a quantity', { scalar: 'Quantity' }, '1000m', '1'],
    ['a time', { scalar: 'DateTime' }, '2026-01-01T00:00:00Z', '2026-01-01T01:00:00+01:00'],
    ['a duration', { scalar: 'Duration' }, '60s', '1m'],
    ['anything', { scalar: 'JSON' }, 'n1', 'n1'],
  ];

  test.each(nodeNamed)('%s', (_, type, nodeName, eq) => {
    const spec = smallModel.types.get('ExampleSpec');
    const fields = (spec?.fields ?? []).map((field) => (field.name === 'nodeName' ? { ...field, type } : field));
    const model: Model = { ...smallModel, types: new Map(smallModel.types).set('ExampleSpec', { name: 'ExampleSpec', fields }) };
    for (const where of [
      { path: 'spec.nodeName', eq },
      { path: 'spec.nodeName', in: [eq] },
    ]) {
      const counts = [63, 64].map((length) => {
        const source = sourceOf({ objects: Array.from({ length }, (_, index) => objectOf({ name: `o${index}`, spec: { nodeName } })) });
        return runQuery([source], { first: 1, where: compileWhere(model, [sample], where) }).totalCount;
      });
      expect(counts).toEqual([63, 64]);
    }
  });

  test('in the elements of a list', () => {
    const source = sourceOf({
      objects: Array.from({ length: 64 }, (_, index) => objectOf({ name: `o${index}`, spec: [{ nodeName: 'n1' }] })),
    });
    const types = new Map(smallModel.types).set('ExampleSample', {
      name: 'ExampleSample',
      fields: [{ name: 'spec', key: 'spec', type: { list: { type: 'ExampleSpec' } } }],
    });
    const where = compileWhere({ ...smallModel, types }, [sample], { path: 'spec.nodeName', eq: 'n1' });
    expect(runQuery([source], { first: 1, where }).totalCount).toBe(64);
  });
});

test('gives indexes the properties that all matching objects share', () => {
  const hints = (where: WhereInput) => compileWhere(smallModel, [sample], where).indexHintsFor(sample);
  expect(hints({ path: 'metadata.name', eq: 'a' })).toEqual([{ by: 'name', values: ['a'] }]);
  expect(hints({ path: 'metadata.namespace', in: ['a', 'b'] })).toEqual([{ by: 'namespace', values: ['a', 'b'] }]);
  expect(
    hints({
      and: [
        { path: 'metadata.labels["x.y/z"]', eq: 'v' },
        { path: 'spec.text', eq: 'x' },
      ],
    }),
  ).toEqual([{ by: 'label', key: 'x.y/z', values: ['v'] }]);
  expect(hints({ path: 'metadata.ownerReferences.uid', eq: 'u' })).toEqual([{ by: 'owner', uid: 'u' }]);
  expect(hints({ path: 'spec.nodeName', eq: 'n' })).toEqual([{ by: 'node', name: 'n' }]);
  expect(hints({ path: 'spec.nodeName', in: ['n', 'm'] })).toEqual([]);
  expect(hints({ or: [{ path: 'metadata.name', eq: 'a' }] })).toEqual([]);
  expect(hints({ not: { path: 'metadata.name', eq: 'a' } })).toEqual([]);
  expect(hints({ path: 'metadata.name', ne: 'a' })).toEqual([]);
  expect(hints({ path: 'metadata.annotations.a', eq: 'a' })).toEqual([]);
  expect(hints({ path: 'cluster.labels.a', eq: 'a' })).toEqual([]);
});

describe('a filter over many kinds', () => {
  const model = loadBaseline();
  const kinds = [...model.kinds.values()];
  const failing = (where: WhereInput): string => {
    try {
      compileWhere(model, kinds, where);
    } catch (error) {
      if (error instanceof MusterError) return error.message;
    }
    return 'not refused';
  };

  test('suggests the nearest path of a kind, and no other kind', () => {
    expect(failing({ path: 'spec.replcas', gte: 1 })).toMatch(
      /^no field spec\.replcas in any of the \d\d requested kinds; did you mean spec\.replicas \(Deployment, ReplicaSet, \w+, …\)\?$/,
    );
    // A path of all kinds is reported without the name of a kind.
    expect(failing({ path: 'metadata.nmae', eq: 'x' })).toMatch(
      /^no field metadata\.nmae in any of the \d\d requested kinds; did you mean metadata\.name\?$/,
    );
    expect(failing({ path: 'metadata.labels.a.b', eq: 'x' })).toMatch(/did you mean metadata\.labels\["a\.b"\]\?$/);
    expect(failing({ path: 'zzzzzzzzzz', eq: 'x' })).toMatch(/^no field zzzzzzzzzz in any of the \d\d requested kinds$/);
    // If a kind has the path, the error names the problem in that kind.
    expect(failing({ path: 'spec.replicas', contains: 'x' })).toMatch(/on spec\.replicas, which is a Int, got contains$/);
  });

  test('looks for a suggestion once, and walks each path once for each kind', () => {
    const path = 'spec.template.spec.contanersN.imag';
    const walks = vi.mocked(paths.findPath).mockClear();
    const searches = vi.mocked(near.nearestWordWithEdits).mockClear();
    expect(failing({ or: Array.from({ length: 90 }, () => ({ path, eq: 'x' })) })).toMatch(/did you mean spec\.template\.spec\.containers/);
    expect(walks).toHaveBeenCalledTimes(kinds.length);
    expect(searches.mock.calls.length).toBeLessThanOrEqual(kinds.length);
  });

  test('is limited by comparisons times kinds, without the values of in', () => {
    const many = (count: number): WhereInput => ({ or: Array.from({ length: count }, () => ({ path: 'metadata.name', eq: 'x' })) });
    const copies = Array.from({ length: 11 }, () => kinds).flat();
    expect(() => compileWhere(model, copies, many(Math.ceil(10_001 / copies.length)))).toThrow(/at most 10000 comparisons times kinds/);
    expect(failing({ path: 'metadata.name', in: Array.from({ length: 900 }, (_, index) => `n${index}`) })).toBe('not refused');
  });
});
