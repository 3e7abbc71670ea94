import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { printYaml } from '../../../src/core/json/print-yaml.ts';
import { type Json, type JsonObject, parseJsonExactly } from '../../../src/core/json.ts';

const texts = [
  'yes',
  'y',
  'off',
  '0644',
  '0o14',
  '1_000',
  '1:30',
  '190:20:30',
  'null',
  '~',
  '',
  '2024-01-01',
  '2001-12-14t21:59:43.10-05:00',
  '1e3',
  '.inf',
  '0x1F',
  '0b11',
  '<<',
  '-',
  '? a',
  '#x',
  'a: b',
  '!t',
  '*x',
  '&x',
  'True',
  '+1',
  '  lead',
  'a\nb\n',
  'a\rb',
  '\u0085',
  '\u2028',
  '\ufeffx',
  '\u007f',
  'a\u202eb',
  'a\n\u2066b\n',
  '\u0001',
  '"\u0085\\"',
  'é',
  '🙂',
  'word '.repeat(100),
  'a\n\nb',
  'a\n\n',
  'a\n  b\n\tc',
  'a\n  \nb',
  'a\n  ',
  ' a\nb',
  '\na',
  '\n',
  'a\n# b\n--- c',
  'a\n\u0001b',
  'a: ',
  'a #b',
  'a:b c, d',
  'n/a',
  'NULL',
  'Infinity',
  'e3',
  'x'.repeat(5_000),
];

test.each([
  ['1.1', texts],
  ['1.2', texts],
] as const)('a YAML %s reader gets every text back as that text, as value and as key', (version, all) => {
  const object: JsonObject = { list: all, map: Object.fromEntries(all.map((text) => [text, text])) };
  expect(parse(printYaml(object), { version, merge: true, maxAliasCount: 0 })).toEqual(object);
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      'y',
      '1',
      'e',
      '.',
      '-',
      ':',
      ' ',
      '\n',
      '\t',
      '\r',
      '#',
      '~',
      '"',
      "'",
      '\\',
      '\u0085',
      '\u2029',
      '{',
      '|',
      '=',
    ),
  }),
);

test.each(['1.1', '1.2'] as const)('a YAML %s reader gets every object back', (version) => {
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(anyText, fc.boolean(), fc.constant(null), fc.double({ noDefaultInfinity: true, noNaN: true }), fc.integer()),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(anyText, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(anyText, tree, { maxKeys: 4 }), (object) => {
      const json = JSON.stringify(object);
      expect(JSON.stringify(parse(printYaml(JSON.parse(json)), { version, merge: true, maxAliasCount: 0 }))).toBe(json);
    }),
    { numRuns: 500 },
  );
});

test('an object reads like a manifest', () => {
  const object = {
    apiVersion: 'v1',
    metadata: { name: 'web', labels: {}, annotations: { 'a.b/c': 'true' } },
    spec: { image: 'nginx:1.27', args: ['-v', 'a b'], ports: [{ port: 80, at: ['x'] }, {}], deep: [['a'], []] },
    data: { script: '#!/bin/sh\n\n  exit 0\n', text: 'a\nb' },
  };
  expect(printYaml(object)).toBe(`apiVersion: v1
metadata:
  name: web
  labels: {}
  annotations:
    a.b/c: "true"
spec:
  image: nginx:1.27
  args:
    - "-v"
    - a b
  ports:
    - port: 80
      at:
        - x
    - {}
  deep:
    - - a
    - []
data:
  script: |
    #!/bin/sh

      exit 0
  text: |-
    a
    b
`);
  expect(printYaml({})).toBe('{}\n');
});

test('every line break and mark of YAML 1.1 is escaped', () => {
  expect(printYaml({ text: 'a\u0085b\u2028c\ufeff' })).toBe('text: "a\\u0085b\\u2028c\\ufeff"\n');
});

test('integers keep their digits, shared parts are repeated, long texts are not folded', () => {
  const shared = { a: 1 };
  const object = { big: parseJsonExactly('9007199254740993'), one: shared, two: shared, long: 'word '.repeat(60) } as JsonObject;
  expect(printYaml(object)).toBe(`big: 9007199254740993\none:\n  a: 1\ntwo:\n  a: 1\nlong: "${'word '.repeat(60)}"\n`);
});

test('characters that change the direction of text are escaped, in lines and in blocks', () => {
  const printed = printYaml({ line: 'safe\u202egnp.exe', block: 'one\ntwo\u2067\n' });
  expect(printed).toBe('line: "safe\\u202egnp.exe"\nblock: "one\\ntwo\\u2067\\n"\n');
});
