import { expect, test } from 'vitest';
import { z } from 'zod';
import { listSchema, readDocument, structureSchema, typeError } from '../../../src/core/json/documents.ts';
import { labels, partName, textLists } from '../../../src/core/json/field-definitions.ts';
import { parseJsonExactly } from '../../../src/core/json.ts';

const schema = structureSchema({
  inner: structureSchema({ labels: labels.exactOptional(), text: z.string(typeError('a text')).exactOptional() }).exactOptional(),
  parts: listSchema(structureSchema({ lists: textLists }), { max: 3 }).exactOptional(),
  names: listSchema(partName, { max: 3 }).exactOptional(),
});

function problemsOf(text: string) {
  const read = readDocument(schema, parseJsonExactly(text));
  return 'problems' in read ? read.problems.map(({ path, message }) => `${path}: ${message}`) : [];
}

test('a document with more problems than zod can pass on is refused, not thrown at', () => {
  const texts = Array(200_000).fill(0);
  expect(problemsOf(JSON.stringify({ parts: [{ lists: { texts } }] }))).toEqual([': expected fewer problems, got more than can be listed']);
});

test('a map with more members than its definition allows is one problem', () => {
  const wrong = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`!${index}`, '']));
  expect(problemsOf(JSON.stringify({ inner: { labels: wrong } }))).toEqual(['inner.labels: expected at most 500 members, got 501']);
});

test('a value of a wrong type has one problem, whatever its length', () => {
  expect(problemsOf('{"names": "a long text"}')).toEqual(['names: expected a list, got "a long text"']);
  expect(problemsOf('{"names": [[], ""]}')).toEqual([
    'names[0]: expected a text, got a list',
    'names[1]: expected a name of 1 to 253 characters, got ""',
  ]);
});

test('messages show all digits of an integer', () => {
  expect(problemsOf('{"inner": 9007199254740993}')).toEqual(['inner: expected an object, got 9007199254740993']);
  expect(problemsOf('{"inner": {"labels": -9007199254740993, "text": 9007199254740993}}')).toEqual([
    'inner.labels: expected texts by keys, got -9007199254740993',
    'inner.text: expected a text, got 9007199254740993',
  ]);
});

test('unknown members are ignored and reported to a reader that asks for it', () => {
  const ignored: string[] = [];
  const document = { inner: { text: 'a', texd: 1 }, parts: [{ lists: {}, list: {} }] };
  const read = readDocument(schema, document, { path: '[2]', ignoreUnknown: ({ path, message }) => ignored.push(`${path} ${message}`) });
  expect(read).toEqual({ value: { inner: { text: 'a' }, parts: [{ lists: {} }] } });
  expect(ignored).toEqual([
    '[2].inner.texd is no field here: did you mean text?',
    '[2].parts[0].list is no field here: did you mean lists?',
  ]);
});
