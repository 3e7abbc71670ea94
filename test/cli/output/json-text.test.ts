import { expect, test } from 'vitest';
import { jsonText } from '../../../src/cli/output/json-text.ts';

test('escapes control characters and characters that change the direction of text, without changing the value', () => {
  const value = { name: 'safe\u202egnp.exe', '\u2066key': ['\u009b', 'é'] };
  const text = jsonText(value);
  expect(text).toBe('{"name":"safe\\u202egnp.exe","\\u2066key":["\\u009b","é"]}');
  expect(JSON.parse(text)).toEqual(value);
});
