import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseWarnings } from '../../../src/cluster/requests/warnings.ts';

test.each<readonly [string, readonly string[], readonly string[]]>([
  ['none', [], []],
  ['one', ['299 - "unknown field \\"spec.zzz\\""'], ['unknown field "spec.zzz"']],
  ['one with its agent and date', ['299 kube-apiserver "careful" "Wed, 21 Oct 2026 07:28:00 GMT"'], ['careful']],
  ['several in one line, with commas within', ['299 - "a, b", 299 - "c"'], ['a, b', 'c']],
  ['several lines', ['299 - "a"', '299 - "b"'], ['a', 'b']],
  ['an empty text', ['299 - ""'], ['']],
  ['a backslash', ['299 - "a\\\\b"'], ['a\\b']],
  ['bytes of UTF-8, one character each', [`299 - "${Buffer.from('höchst').toString('latin1')}"`], ['höchst']],
  ['what is none', ['careful', '299 "no agent"', 'x299 - "no code"', '299 - "unended'], []],
])('reads %s', (_title, headers, texts) => {
  expect(parseWarnings(headers)).toEqual(texts);
});

test('reads every text in the quoting of RFC 7230', () => {
  const quoted = (text: string) => `299 - "${Buffer.from(text.replace(/["\\]/g, '\\$&')).toString('latin1')}"`;
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: 'grapheme' }).filter((text) => !/\p{Cc}/u.test(text)),
        { maxLength: 20 },
      ),
      (texts) => {
        expect(parseWarnings([texts.map(quoted).join(', ')])).toEqual(texts);
        expect(parseWarnings(texts.map(quoted))).toEqual(texts);
      },
    ),
  );
});

test('reads at most 100', () => {
  expect(parseWarnings([Array.from({ length: 200 }, (_, index) => `299 - "${index}"`).join(',')])).toHaveLength(100);
});
