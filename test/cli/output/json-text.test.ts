import { expect, test } from 'vitest';
import { jsonText } from '../../../src/cli/output/json-text.ts';

test('JSON for a terminal escapes control characters and characters that change the direction of text, and means the same', () => {
  const value = { name: 'safe\u202egnp.exe', '\u2066key': ['\u009b', 'é'] };
  const text = jsonText(value);
  expect(text).toBe('{"name":"safe\\u202egnp.exe","\\u2066key":["\\u009b","é"]}');
  expect(JSON.parse(text)).toEqual(value);
});
