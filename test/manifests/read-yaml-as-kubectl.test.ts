import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type Json, parseJsonExactly } from '../../src/core/json.ts';
import { textAt, valueAt } from '../../src/core/json-at.ts';
import { maxDocuments, readYamlDocuments, type YamlDocuments } from '../../src/manifests/yaml-documents.ts';

// Recorded answers of kubectl 1.36.3: `kubectl create --dry-run=client --validate=false -o json`. null: kubectl refused the text.
const scalars: readonly (readonly [string, string | null])[] = fixture('kubectl-scalars.json') as never;
const documents: readonly { readonly name: string; readonly text: string; readonly documents: readonly Json[] | null }[] = fixture(
  'kubectl-documents.json',
) as never;

describe('a plain scalar means what it means to kubectl', () => {
  // kubectl and the API server round integers beyond 64 bits. This reader refuses them.
  const refusedHere: ReadonlySet<string> = new Set([
    '18446744073709551615',
    '18446744073709551616',
    '-9223372036854775809',
    '123456789012345678901234567890',
    '0xFFFFFFFFFFFFFFFF',
    '0x8000000000000000',
  ]);

  test.each(scalars)('%s', (text, answer) => {
    const read = readYamlDocuments(`data:\n  k: ${text}\n`);
    const value = read.result === 'read' ? valueAt(read.documents[0], 'data', 'k') : undefined;
    expect(value === undefined ? null : JSON.stringify(value)).toBe(refusedHere.has(text) ? null : answer);
  });
});

describe('a text is read as kubectl reads it', () => {
  /** The texts that this reader treats differently from kubectl, with the reason. */
  const elsewhere: Readonly<Record<string, 'refused' | 'read'>> = {
    // A duplicate key is a mistake that kubectl does not report.
    dup: 'refused',
    'dup true y': 'refused',
    'dup true "true"': 'refused',
    'dup 1 "1"': 'refused',
    'dup 1 01': 'refused',
    'json dup': 'refused',
    // Custom tags.
    'custom tag': 'refused',
    'custom tag map': 'refused',
    'tag !!binary': 'refused',
    'tag !!timestamp': 'refused',
    'tag !!set': 'refused',
    'tag !!omap': 'refused',
    // Not a number, as a key too.
    'key .inf': 'refused',
    // kubectl ignores the second document without an error.
    'doc end then doc': 'refused',
    'json two': 'refused',
    // Integers beyond 64 bits.
    'json big': 'refused',
    // YAML 1.2 and JSON have `\/`.
    'double esc': 'read',
    // Texts without a manifest: `readManifestText` refuses them.
    nothing: 'read',
    'only comments': 'read',
    'only seps': 'read',
    'scalar doc': 'read',
    'seq doc': 'read',
    'sep in block col0': 'read',
    'no kind': 'read',
    'name number': 'read',
    // kubectl expands lists, removes an empty managedFields, and adds absent metadata. This reader leaves these as they are.
    'no name': 'read',
    list: 'read',
    configmaplist: 'read',
    'status etc': 'read',
  };

  test.each(documents)('$name', ({ name, text, documents: answer }) => {
    const read = readYamlDocuments(text);
    const expected = elsewhere[name];
    if (expected !== undefined) expect(read.result).toBe(expected);
    else if (answer === null) expect(read.result).toBe('refused');
    else expect(documentsOf(read).map(inDefaultNamespace)).toEqual(answer);
  });

  test('kubectl answers differently for every exception', () => {
    const wrong = Object.entries(elsewhere).filter(([name, result]) => {
      const answer = documents.find((one) => one.name === name);
      const whole = answer?.documents ?? null;
      return answer === undefined || (result === 'refused') === (whole === null);
    });
    // The texts for which kubectl gives another answer.
    expect(wrong.map(([name]) => name)).toEqual(['no name', 'list', 'configmaplist', 'status etc']);
  });
});

describe('a harmful text is refused before it is parsed completely', () => {
  const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n';
  const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
  for (let level = 1; level < 9; level += 1)
    bomb.push(
      `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(',')}]`,
    );
  const merges = ['a0: &a0 {x: 1}'];
  for (let level = 1; level < 40; level += 1) merges.push(`a${level}: &a${level} {l: *a${level - 1}, r: *a${level - 1}}`);

  test.each([
    ['an alias bomb', bomb.join('\n'), 'aliases that add at most 3 MiB'],
    ['a bomb of maps', merges.join('\n'), 'aliases that add at most 3 MiB'],
    ['100k brackets', `a: ${'['.repeat(100_000)}`, 'at most 200 levels'],
    ['100k braces', `a: ${'{a: '.repeat(100_000)}`, 'at most 200 levels'],
    ['100k dashes', '- '.repeat(100_000), 'at most 200 levels'],
    ['100k question marks', '? '.repeat(100_000), 'at most 200 levels'],
    ['nesting by indentation', Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), 'at most 200 levels'],
    ['duplicate keys', `${head}data: {a: b, a: c}`, 'each key once'],
    ['a custom tag', `${head}data: !foo {a: b}`, 'no custom tag'],
    ['10k documents', `${head}---\n`.repeat(10_000), 'at most 1000 documents'],
    ['10k empty documents', '---\n'.repeat(10_000), 'at most 1000 documents'],
    ['more than 3 MiB', `a: ${'x'.repeat(3 * 1024 * 1024)}`, 'at most 3145728 bytes'],
    ['a million line breaks', '\n'.repeat(1_000_000), 'at most 400000 words'],
    ['a lone surrogate', `${head}data: {a: "\\ud800"}`, 'valid Unicode text'],
    ['a lone surrogate as it is', `${head}data: {a: "\ud800"}`, 'no control characters'],
    ['a directive', `%YAML 1.2\n---\n${head}`, 'no directive'],
  ])('%s', (_name, text, message) => {
    const read = readYamlDocuments(text);
    expect(read.result === 'refused' ? read.message : 'read').toContain(message);
  });

  test('the maximum numbers of documents, levels and bytes are accepted', () => {
    expect(documentsOf(readYamlDocuments(Array(maxDocuments).fill('a: b\n').join('---\n')))).toHaveLength(maxDocuments);
    expect(documentsOf(readYamlDocuments(`a: ${'['.repeat(190)}${']'.repeat(190)}`))).toHaveLength(1);
    expect(documentsOf(readYamlDocuments(`a: ${'x'.repeat(3 * 1024 * 1024 - 4)}\n`))).toHaveLength(1);
  });
});

test('a message contains the line, and no value', () => {
  const read = readYamlDocuments('a: b\n---\nkind: Secret\ndata:\n  password: "hunter2" hunter3\n');
  expect(read).toEqual({ result: 'refused', message: expect.stringMatching(/^line 5: expected YAML/) });
  expect(JSON.stringify(read)).not.toMatch(/hunter/);
});

test('values behind aliases are shared, and keys of objects are plain data', () => {
  const [document] = documentsOf(readYamlDocuments('a: &x {__proto__: {polluted: 1}}\nb: *x\n'));
  expect(valueAt(document, 'a')).toBe(valueAt(document, 'b'));
  expect(JSON.stringify(document)).toBe('{"a":{"__proto__":{"polluted":1}},"b":{"__proto__":{"polluted":1}}}');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test('integers of 64 bits are exact', () => {
  const [document] = documentsOf(readYamlDocuments('a: 9223372036854775807\nb: -9223372036854775808\n'));
  expect(JSON.stringify(document)).toBe('{"a":9223372036854775807,"b":-9223372036854775808}');
});

function documentsOf(read: YamlDocuments): readonly Json[] {
  if (read.result === 'refused') throw new Error(read.message);
  return read.documents;
}

/** kubectl adds the namespace of its context to objects without one. */
function inDefaultNamespace(document: Json): Json {
  if (!isJsonObject(document) || !isJsonObject(document.metadata) || textAt(document, 'kind') !== 'ConfigMap') return document;
  return { ...document, metadata: { namespace: 'default', ...document.metadata } };
}

function fixture(name: string): Json {
  return parseJsonExactly(readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8'));
}
