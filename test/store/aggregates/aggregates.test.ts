import { describe, expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { printQuantity } from '../../../src/core/quantities.ts';
import type { GroupOrder } from '../../../src/store/aggregates/groups.ts';
import type { SourceMatches } from '../../../src/store/query/query.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';
import { other, sample, smallModel, sourceOf, sourceOfSpecs } from '../../support/store/query-sources.ts';
import { compileExtreme, compileGroups, compileSum, runQuery } from '../../support/store/store-at-once.ts';
import { objectOf } from '../../support/store/store-objects.ts';

const asked = { model: smallModel, kinds: [sample, other] };

function matchesIn(...sources: readonly QuerySource[]): readonly SourceMatches[] {
  return runQuery(sources, { first: 1, keepMatches: true }).matches;
}

function sumOf(path: string, ...specs: readonly string[]): string | undefined {
  const sum = compileSum(asked, path)(matchesIn(sourceOfSpecs(...specs)));
  return sum && printQuantity(sum);
}

/** Prints the groups as text, because doubles cannot hold integers beyond 2^53. */
function groupsOf(by: readonly string[], specs: readonly string[], order: GroupOrder = 'KEY_ASC'): string {
  const { groups } = compileGroups(asked, { by, order, first: 100 })(matchesIn(sourceOfSpecs(...specs)));
  return JSON.stringify(groups.map(({ keys, count }) => [...keys, count]));
}

describe('sums are exact:', () => {
  const cases: readonly (readonly [string, string, readonly string[], string | undefined])[] = [
    ['quantities', 'spec.amount', ['{"amount":"250m"}', '{"amount":"1"}'], '1250m'],
    ['binary ones', 'spec.amount', ['{"amount":"64Mi"}', '{"amount":"1Gi"}'], '1088Mi'],
    ['quantities written as numbers', 'spec.amount', ['{"amount":2}', '{"amount":"500m"}'], '2500m'],
    ['of a map of them', 'spec.limits.cpu', ['{"limits":{"cpu":"1"}}', '{"limits":{"cpu":"2","memory":"1Gi"}}'], '3'],
    ['integers', 'spec.count', ['{"count":1999}', '{"count":1}'], '2000'],
    [
      'integers beyond 2^53, and as text',
      'spec.big',
      ['{"big":9007199254740993}', '{"big":9007199254740993}', '{"big":"9007199254740993"}'],
      '27021597764222979',
    ],
    ['fractions', 'spec.ratio', ['{"ratio":0.1}', '{"ratio":0.2}'], '0.3'],
    ['numbers and quantities in JSON', 'spec.any.x', ['{"any":{"x":1}}', '{"any":{"x":"250m"}}', '{"any":{"x":"y"}}'], '1250m'],
    ['each value of a list', 'spec.parts.size', ['{"parts":[{"size":1},{"size":1},{}]}', '{"parts":[{"size":5}]}'], '7'],
    ['what is absent, null or of another type is no value', 'spec.count', ['{}', '{"count":null}', '{"count":"7"}', '{"count":3}'], '3'],
    ['a text that is no quantity is no value', 'spec.amount', ['{"amount":"x"}', '{"amount":true}', '{"amount":{}}'], undefined],
    ['of nothing there is none', 'spec.count', [], undefined],
  ];
  test.each(cases)('%s', (_, path, specs, sum) => {
    expect(sumOf(path, ...specs)).toBe(sum);
  });
});

describe('finds the smallest and the largest value, as served:', () => {
  const cases: readonly (readonly [string, string, readonly string[], string | undefined, string | undefined])[] = [
    ['integers of any size', 'spec.big', ['9007199254740993', '9007199254740992', '-1'], '-1', '9007199254740993'],
    ['quantities', 'spec.amount', ['"1Gi"', '"900M"', '"1500m"'], '"1500m"', '"1Gi"'],
    [
      'instants',
      'spec.at',
      ['"2026-01-01T00:00:00+02:00"', '"2026-01-01T00:00:00Z"'],
      '"2026-01-01T00:00:00+02:00"',
      '"2026-01-01T00:00:00Z"',
    ],
    ['equal ones by their text', 'spec.amount', ['"1000m"', '"1"'], '"1"', '"1"'],
    ['truth', 'spec.flag', ['true', 'false', 'null'], 'false', 'true'],
    ['what mixes goes by type', 'spec.port', ['"80"', '443', '80'], '80', '"80"'],
    ['each of a list', 'spec.names', ['["b","z"]', '[]', '["a"]'], '"a"', '"z"'],
    ['lists and maps in JSON are no values', 'spec.any', ['[9]', '{}', '3'], '3', '3'],
    ['of nothing there is none', 'spec.count', ['null'], undefined, undefined],
  ];
  test.each(cases)('%s', (_, path, values, min, max) => {
    const field = path.split('.')[1] ?? '';
    const matches = matchesIn(sourceOfSpecs(...values.map((value) => `{"${field}":${value}}`)));
    expect(JSON.stringify(compileExtreme(asked, path, 'min')(matches))).toBe(min);
    expect(JSON.stringify(compileExtreme(asked, path, 'max')(matches))).toBe(max);
  });
});

describe('groups', () => {
  test('have the values as keys, as served, with null for missing values, which come last', () => {
    expect(groupsOf(['spec.amount'], ['{"amount":"1"}', '{}', '{"amount":"250m"}', '{"amount":"1000m"}', '{"amount":"250m"}'])).toBe(
      '[["250m",2],["1",1],["1000m",1],[null,1]]',
    );
  });

  test('keep values apart that differ in type or in one digit', () => {
    expect(groupsOf(['spec.port'], ['{"port":80}', '{"port":"80"}', '{"port":80}'])).toBe('[[80,2],["80",1]]');
    expect(groupsOf(['spec.big'], ['{"big":9007199254740993}', '{"big":9007199254740992}', '{"big":9007199254740993}'])).toBe(
      '[[9007199254740992,1],[9007199254740993,2]]',
    );
  });

  test('compare maps and lists of JSON by their content', () => {
    expect(groupsOf(['spec.any'], ['{"any":{"a":1,"b":[2]}}', '{"any":{"b":[2],"a":1}}', '{"any":"{}"}', '{"any":[2]}'])).toBe(
      '[["{}",1],[[2],1],[{"a":1,"b":[2]},2]]',
    );
  });

  test('are ordered by count, then by keys', () => {
    expect(groupsOf(['spec.count'], ['{"count":10}', '{"count":2}', '{"count":9}', '{"count":9}', '{}'], 'COUNT_DESC')).toBe(
      '[[9,2],[2,1],[10,1],[null,1]]',
    );
  });

  test('have an object once for each of its different values, and for each combination', () => {
    const specs = ['{"names":["a","b","a"],"count":1}', '{"names":["a"],"parts":[{"zones":["x","y"]},{"zones":["x"]}]}'];
    expect(groupsOf(['spec.names'], specs)).toBe('[["a",2],["b",1]]');
    expect(groupsOf(['spec.names', 'spec.parts.zones'], specs)).toBe('[["a","x",1],["a","y",1],["a",null,1],["b",null,1]]');
  });

  test('cover all kinds that have the path; objects of other kinds have no value', () => {
    const matches = matchesIn(
      sourceOfSpecs('{"count":1}'),
      sourceOf({ kind: other, objects: [objectOf({ name: 'x', spec: { count: 1 } })] }),
    );
    const { groups } = compileGroups(asked, { by: ['kind', 'spec.count'], order: 'KEY_ASC', first: 10 })(matches);
    expect(groups.map(({ keys }) => keys)).toEqual([
      ['Other', null],
      ['Sample', 1],
    ]);
  });

  test('are found after a kind that has neither the path nor an object', () => {
    const matches = matchesIn(sourceOf({ kind: other, objects: [] }), sourceOfSpecs('{"count":1}', '{"count":2}', '{"count":2}'));
    const { groups } = compileGroups(asked, { by: ['spec.count'], order: 'KEY_ASC', first: 10 })(matches);
    expect(groups).toMatchObject([
      { keys: [1], count: 1 },
      { keys: [2], count: 2 },
    ]);
  });

  test('are bounded, and so are the places of objects in them', () => {
    const many = Array.from({ length: 400 }, (_, index) => `"n${index}"`).join(',');
    const grouped =
      (by: readonly string[], ...specs: readonly string[]) =>
      () =>
        groupsOf(by, specs);
    expect(grouped(['spec.names', 'spec.names'], `{"names":[${many}]}`)).toThrow(/expected at most 100000 groups, got more/);
    const few = Array.from({ length: 60 }, (_, index) => `"n${index}"`).join(',');
    const places = grouped(['spec.names', 'spec.names'], ...Array.from({ length: 600 }, () => `{"names":[${few}]}`));
    expect(codeOf(places)).toBe('TOO_COSTLY');
  });
});

describe('refuses before it reads any object:', () => {
  const group = (by: readonly string[]) => () => compileGroups(asked, { by, order: 'KEY_ASC', first: 1 });
  const cases: readonly (readonly [string, () => unknown, string])[] = [
    [
      'a sum of text',
      () => compileSum(asked, 'spec.nodeName'),
      'sum: expected a path to numbers or quantities, got spec.nodeName, which is a String',
    ],
    [
      'a sum of what may be text',
      () => compileSum(asked, 'spec.port'),
      'sum: expected a path to numbers or quantities, got spec.port, which is a IntOrString',
    ],
    [
      'a sum of an object',
      () => compileSum(asked, 'spec.one'),
      'sum: expected a path to numbers or quantities, got spec.one, which is a ExamplePart',
    ],
    [
      'a path nobody has',
      () => compileSum(asked, 'spec.cuont'),
      'no field spec.cuont in any of the 2 requested kinds; did you mean spec.count (Sample)?',
    ],
    [
      'the least of maps',
      () => compileExtreme(asked, 'spec.tags', 'min'),
      'min: expected a path to a single value, got spec.tags, which is a StringMap',
    ],
    ['groups by objects', group(['spec.one']), 'groups: expected a path to a single value, got spec.one, which is a ExamplePart'],
    ['groups by nothing', group([]), 'groups: expected 1 to 4 paths to group by, got 0'],
    ['groups by too much', group(Array.from({ length: 5 }, () => 'kind')), 'groups: expected 1 to 4 paths to group by, got 5'],
  ];
  test.each(cases)('%s', (_, ask, message) => {
    expect(ask).toThrow(message);
    expect(codeOf(ask)).toBe('BAD_INPUT');
  });
});

function codeOf(ask: () => unknown): string | undefined {
  try {
    ask();
  } catch (error) {
    return error instanceof MusterError ? error.code : undefined;
  }
  return undefined;
}
