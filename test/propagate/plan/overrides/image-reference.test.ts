import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ImageReference, parseImageReference, printImageReference } from '../../../../src/propagate/plan/overrides/image-reference.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

describe('a reference', () => {
  test.each<[string, ImageReference]>([
    ['nginx', { repository: 'nginx' }],
    ['library/nginx:1.25', { repository: 'library/nginx', tag: '1.25' }],
    ['localhost/x:1', { registry: 'localhost', repository: 'x', tag: '1' }],
    ['example.com/a/b', { registry: 'example.com', repository: 'a/b' }],
    ['example.com:5000/a', { registry: 'example.com:5000', repository: 'a' }],
    ['10.0.0.1:5000/a:b', { registry: '10.0.0.1:5000', repository: 'a', tag: 'b' }],
    ['[2001:db8::1]:5000/a:b', { registry: '[2001:db8::1]:5000', repository: 'a', tag: 'b' }],
    [`a@${digest}`, { repository: 'a', digest }],
    [`example.com/a:1@${digest}`, { registry: 'example.com', repository: 'a', tag: '1', digest }],
    ['a__b/c-d.e_f', { repository: 'a__b/c-d.e_f' }],
  ])('%s is read, and printed again', (text, expected) => {
    expect(parseImageReference(text)).toEqual(expected);
    expect(printImageReference(expected)).toBe(text);
  });

  test.each([
    '',
    'UPPER CASE',
    'Nginx',
    'a:',
    'a@',
    'a@sha256:12',
    'a:b:c',
    '/a',
    'a/',
    'a//b',
    'a b',
    `a:${'x'.repeat(129)}`,
    `a@${digest}@${digest}`,
    '-a',
    'x'.repeat(2000),
  ])('%j is none', (text) => {
    expect(parseImageReference(text)).toBeUndefined();
  });

  test('is parsed and printed without loss', () => {
    const part = fc.stringMatching(/^[a-z0-9]{1,6}$/);
    const reference = fc.record(
      {
        registry: fc.constantFrom('example.com', 'localhost', 'r:5000'),
        repository: fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
        tag: fc.stringMatching(/^\w[\w.-]{0,10}$/),
        digest: fc.constant(digest),
      },
      { requiredKeys: ['repository'] },
    );
    fc.assert(fc.property(reference, (one) => void expect(parseImageReference(printImageReference(one))).toEqual(one)));
  });
});
