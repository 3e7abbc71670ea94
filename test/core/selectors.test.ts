import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MusterError } from '../../src/core/errors.ts';
import { type LabelSelector, matchesLabelSelector, parseLabelSelector, printLabelSelector } from '../../src/core/selectors.ts';

const web = { app: 'web', tier: 'front', 'example.com/team': 'a.b_c-1', empty: '', generation: '7' };

test.each([
  ['', true],
  ['   ', true],
  ['app=web', true],
  ['app==web', true],
  [' app = web , tier = front ', true],
  ['app=api', false],
  ['app!=api', true],
  ['app!=web', false],
  ['absent!=web', true],
  ['app in (api, web)', true],
  ['app in (api)', false],
  ['app notin (api,db)', true],
  ['absent notin (api)', true],
  ['app notin(web)', false],
  ['app', true],
  ['absent', false],
  ['!absent', true],
  ['! absent', true],
  ['!app', false],
  ['app,!canary,tier in (front,back)', true],
  ['example.com/team=a.b_c-1', true],
  ['empty=', true],
  ['empty=,app=web', true],
  ['app=', false],
  ['empty in (,)', true],
  ['empty in ()', true],
  ['app notin ()', true],
  ['empty notin ()', false],
  ['empty in (a,)', true],
  ['empty in (,a)', true],
  ['app in (a,)', false],
  ['in in (in,notin)', false],
  ['in', false],
  ['app!=in', true],
  ['generation>6', true],
  ['generation > 7', false],
  ['generation<8', true],
  ['generation<+8', undefined],
  ['app>1', false],
  ['absent<1', false],
  ['constructor', false],
  ['!toString', true],
])('%j selects the web pod: %s', (text, selected) => {
  if (selected === undefined) expect(() => parseLabelSelector(text)).toThrow(MusterError);
  else expect(matchesLabelSelector(parseLabelSelector(text), web)).toBe(selected);
});

test.each([
  ['a in (', 'expected a value at character 7, got the end of the text'],
  ['a in b', 'expected ( at character 6, got "b"'],
  ['a in (b', 'expected a comma or ) at character 8, got the end of the text'],
  ['a b', 'expected one of =, ==, !=, in, notin, <, >, a comma or the end at character 3, got "b"'],
  ['a=b c', 'expected a comma or the end at character 5, got "c"'],
  ['a,', 'expected a label key or ! at character 3, got the end of the text'],
  [',a', 'expected a label key or ! at character 1, got ","'],
  ['!a=b', 'expected a comma or the end at character 3, got "="'],
  ['a=!b', 'expected a value at character 3, got "!"'],
  ['a>b', 'expected an integer at character 3, got "b"'],
  ['a>9223372036854775808', 'expected an integer at character 3, got "9223372036854775808"'],
  ['-a', 'expected a label key: a name'],
  ['__proto__', 'expected a label key: a name'],
  ['/a', 'expected a label key whose part before the slash'],
  ['A.b/c', 'expected a label key whose part before the slash'],
  ['a/b/c', 'expected a label key: a name'],
  ['a=b/c', 'expected a label value'],
  ['a=.b', 'expected a label value'],
  [`a=${'x'.repeat(64)}`, 'expected a label value'],
  [`${'x'.repeat(64)}=a`, 'expected a label key: a name'],
  [`${'x'.repeat(254)}/a`, 'expected a label key whose part before the slash'],
  ['größe=1', 'expected a label key: a name'],
])('refuses %j and says where', (text, message) => {
  let error: unknown;
  try {
    parseLabelSelector(text);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(MusterError);
  expect(error).toMatchObject({ code: 'BAD_INPUT', message: expect.stringContaining(`label selector: ${message}`) });
});

test('takes keys and values of the longest length', () => {
  const [prefix, name] = [`${'a'.repeat(60)}.${'b'.repeat(192)}`, 'x'.repeat(63)];
  const selector = parseLabelSelector(`${prefix}/${name}=${'y'.repeat(63)}`);
  expect(matchesLabelSelector(selector, { [`${prefix}/${name}`]: 'y'.repeat(63) })).toBe(true);
});

test('A16: refuses ten thousand terms without reading them all', () => {
  const terms = Array.from({ length: 10_000 }, (_, index) => `k${index}`);
  expect(() => parseLabelSelector(terms.slice(0, 1_001).join(','))).toThrow('at most 1000 terms');
  expect(() => parseLabelSelector(`a in (${terms.slice(0, 1_001).join(',')})`)).toThrow('at most 1000 terms');
  expect(() => parseLabelSelector(terms.join(','))).toThrow('at most 1000 terms');
  expect(() => parseLabelSelector(terms.join(',').repeat(20))).toThrow('at most 65536 characters');
  expect(parseLabelSelector(terms.slice(0, 1_000).join(',')).requirements).toHaveLength(1_000);
});

test('ignores inherited members of labels', () => {
  expect(matchesLabelSelector(parseLabelSelector('constructor'), {})).toBe(false);
  expect(matchesLabelSelector(parseLabelSelector('a'), undefined)).toBe(false);
  expect(matchesLabelSelector(parseLabelSelector('!a'), undefined)).toBe(true);
  expect(matchesLabelSelector(parseLabelSelector('constructor=x'), JSON.parse('{"constructor":"x"}'))).toBe(true);
});

test('prints equal conditions as equal selectors', () => {
  expect(printLabelSelector(parseLabelSelector('b,a=1'))).toBe(printLabelSelector(parseLabelSelector(' a in (1) , b,b')));
  expect(printLabelSelector(parseLabelSelector('a in (y,x)'))).toBe(printLabelSelector(parseLabelSelector('a in (x,y,x)')));
  expect(printLabelSelector(parseLabelSelector('a'))).not.toBe(printLabelSelector(parseLabelSelector('!a')));
});

test('reads what it prints', () => {
  const key = fc.constantFrom('a', 'b', 'in', 'notin', 'example.com/a');
  const value = fc.constantFrom('', 'x', 'y', 'in', '1', '22');
  const values = fc.uniqueArray(value, { minLength: 1, maxLength: 4 });
  const requirement = fc.oneof(
    fc
      .tuple(key, fc.constantFrom('in', 'notin'), values)
      .map(([k, operator, list]) => `${k} ${operator} (${list.join(',')}${list.length === 1 && list[0] === '' ? ',' : ''})`),
    fc.tuple(key, fc.constantFrom('=', '!=', '=='), value).map((parts) => parts.join('')),
    key,
    key.map((k) => `!${k}`),
    fc.tuple(key, fc.constantFrom('>', '<'), fc.integer({ min: 0, max: 30 })).map((parts) => parts.join(' ')),
  );
  const labels = fc.dictionary(key, value);
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 5 }), fc.array(labels, { maxLength: 8 }), (texts, objects) => {
      const selector = parseLabelSelector(texts.join(','));
      const again: LabelSelector = parseLabelSelector(printLabelSelector(selector));
      expect(printLabelSelector(again)).toBe(printLabelSelector(selector));
      for (const each of objects) expect(matchesLabelSelector(again, each)).toBe(matchesLabelSelector(selector, each));
    }),
  );
});
