import { describe, expect, test } from 'vitest';
import { matchInTime, parseExpression } from '../../../src/cli/logs/expressions.ts';

describe('an expression', () => {
  test.each([
    ['"line":3}', '{"line":3}', true],
    ['{"line":3', '{"line":3}', true],
    ['a]', 'a]', true],
    ['\\"x\\"', '"x"', true],
    ['(?i)error', 'ERROR', true],
    ['(?i)error"}', 'Error"}', true],
    ['(?im)^b$', 'a\nB', true],
    ['^\\p{Lu}', 'É', true],
    ['^.$', '😀', true],
    ['error', 'ERROR', false],
  ])('%s on %s', (expression, text, isFound) => {
    expect(parseExpression(expression).test(text)).toBe(isFound);
  });

  test.each(['w(', '*', '[a', '(?<x'])('%s is refused', (text) => {
    expect(() => parseExpression(text)).toThrow(`expected a regular expression, got ${text}`);
  });

  test('that would not end is stopped', () => {
    const endless = parseExpression('^(a+)+$');
    expect(() => matchInTime(() => endless.test(`${'a'.repeat(80)}!`))).toThrow(
      'expected regular expressions that find their match within',
    );
    expect(matchInTime(() => endless.test('aa'))).toBe(true);
  }, 20_000);
});
