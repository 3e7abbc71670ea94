import { expect, test } from 'vitest';
import { goFloat, goJson } from '../../../src/core/jsonpath/go-text.ts';

// The output of Go 1.25.
test.each([
  [1000000.5, '1.0000005e+06'],
  [1000000, '1e+06'],
  [999999.5, '999999.5'],
  [1.5e20, '1.5e+20'],
  [1e21, '1e+21'],
  [123456789.25, '1.2345678925e+08'],
  [-2500000.75, '-2.50000075e+06'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [0.0000125, '1.25e-05'],
  [-0.5, '-0.5'],
])('prints the double %s as %s', (value, text) => {
  expect(goFloat(value)).toBe(text);
});

test('prints JSON members in order of name, and escapes HTML characters', () => {
  expect(goJson({ b: '<&>\u2028\b\f', 10: 1, 2: 1.5e-7, a: [1e21, 'é', null, true, {}] })).toBe(
    '{"10":1,"2":1.5e-7,"a":[1e+21,"é",null,true,{}],"b":"\\u003c\\u0026\\u003e\\u2028\\b\\f"}',
  );
});
