import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareQuantities,
  numberOfQuantity,
  parseQuantity,
  printQuantity,
  type Quantity,
  quantityOfNumber,
  sumQuantities,
  toNanoUnits,
} from '../../src/core/quantities.ts';

// The canonical forms are equal to those in a kube-apiserver (apimachinery, resource.Quantity).
test.each([
  ['0', '0'],
  ['-0', '0'],
  ['0Mi', '0'],
  ['1', '1'],
  ['+1', '1'],
  ['-1', '-1'],
  ['007', '7'],
  ['1.', '1'],
  ['.5', '500m'],
  ['0.5', '500m'],
  ['1.5', '1500m'],
  ['250m', '250m'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['1000', '1k'],
  ['1500', '1500'],
  ['1000000', '1M'],
  ['0.001k', '1'],
  ['100000n', '100u'],
  ['1u', '1u'],
  ['1E', '1E'],
  ['1000E', '1000E'],
  ['1e3', '1e3'],
  ['1E3', '1e3'],
  ['1e2', '100'],
  ['1e-3', '1e-3'],
  ['12e4', '120e3'],
  ['1.5e3', '1500'],
  ['1Ki', '1Ki'],
  ['1024', '1024'],
  ['1024Ki', '1Mi'],
  ['0.5Gi', '512Mi'],
  ['1.5Gi', '1536Mi'],
  ['1023Ki', '1023Ki'],
  ['0.5Ki', '512'],
  ['0.1Ki', '102400m'],
  ['-2Gi', '-2Gi'],
  ['16Ei', '16Ei'],
  ['9223372036854775807', '9223372036854775807'],
  ['9223372036854775808', '9223372036854775808'],
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['1.0000000001', '1000000001n'],
])('%s is printed %s', (text, canonical) => {
  const quantity = parse(text);
  expect(printQuantity(quantity)).toBe(canonical);
  expect(compareQuantities(parse(canonical), quantity)).toBe(0);
});

test.each([
  '',
  '.',
  '+',
  '-',
  'm',
  'Ki',
  '1 ',
  ' 1',
  '1mm',
  '1ki',
  '1kI',
  '1K',
  '1e',
  '1e+',
  '1Ee3',
  '1Ki3',
  '--1',
  '1..2',
  '0x10',
  '1,5',
  'NaN',
  'Infinity',
  '1e1001',
  '1e-1001',
  '1'.repeat(257),
  '١',
])('%j is no quantity', (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});

test.each([
  ['1', '1000m', 0],
  ['1Ki', '1024', 0],
  ['1k', '1Ki', -1],
  ['0.1', '100m', 0],
  ['9007199254740993', '9007199254740992', 1],
  ['9223372036854775807', '9223372036854775808', -1],
  ['1e1000', '1e999', 1],
  ['1e1000', '1n', 1],
  ['-1e1000', '-1n', -1],
  ['-1', '1', -1],
  ['0', '-0', 0],
  ['200m', '0.2', 0],
  ['250m', '0.2', 1],
  ['64Mi', '67108864', 0],
])('%s against %s: %i', (a, b, order) => {
  expect(Math.sign(compareQuantities(parse(a), parse(b)))).toBe(order);
  expect(Math.sign(compareQuantities(parse(b), parse(a)))).toBe(order === 0 ? 0 : -order);
});

const quantities = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
    fc.option(fc.stringMatching(/^\d{1,6}$/), { nil: undefined }),
    fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'e3', 'E-2', 'e12'),
  )
  .map(([whole, fraction, suffix]) => `${whole}${fraction === undefined ? '' : `.${fraction}`}${suffix}`);

test('reads back what it prints, exactly', () => {
  fc.assert(
    fc.property(quantities, (text) => {
      const quantity = parse(text);
      const printed = printQuantity(quantity);
      expect(compareQuantities(parse(printed), quantity)).toBe(0);
      expect(printQuantity(parse(printed))).toBe(printed);
    }),
  );
});

test('orders as exact numbers do', () => {
  // In units of 1n all amounts above are integers.
  const nanos = ({ mantissa, exponent }: Quantity) => mantissa * 10n ** BigInt(exponent + 9);
  fc.assert(
    fc.property(quantities, quantities, (a, b) => {
      const [x, y] = [parse(a), parse(b)];
      const order = nanos(x) < nanos(y) ? -1 : nanos(x) > nanos(y) ? 1 : 0;
      expect([Math.sign(compareQuantities(x, y)), Math.sign(compareQuantities(toNanoUnits(x), toNanoUnits(y)))]).toEqual([order, order]);
      expect(toNanoUnits(x)).toEqual({ mantissa: nanos(x), exponent: -9, format: x.format });
    }),
  );
});

test.each([
  ['250m', 0.25],
  ['1Gi', 2 ** 30],
  ['1e3', 1000],
  ['-5', -5],
  ['1e999', Number.MAX_VALUE],
  ['-1e999', -Number.MAX_VALUE],
])('%s is about %d', (text, number) => {
  expect(numberOfQuantity(parse(text))).toBe(number);
});

// apimachinery takes the format of the first summand. Our result does not depend on the order.
test.each<readonly [readonly string[], string]>([
  [['250m', '1'], '1250m'],
  [['64Mi', '1Gi'], '1088Mi'],
  [['500m', '1500m'], '2'],
  [['1Gi', '1Gi'], '2Gi'],
  [['0', '1Gi'], '1Gi'],
  [['0Mi', '1k'], '1k'],
  [['1G', '64Mi'], '1067108864'],
  [['1e3', '1e3'], '2e3'],
  [['1e3', '1k'], '2k'],
  [['1Gi', '-1Gi'], '0'],
  [['0', '0Ki'], '0'],
  [['9223372036854775807', '1'], '9223372036854775808'],
  [['1n', '1E'], '1000000000000000000000000001n'],
  [['1e999', '1e999'], '2e999'],
])('%j add up to %s', (texts, sum) => {
  for (const order of [texts, texts.toReversed()]) {
    const added = sumQuantities(order.map((text) => ({ quantity: parse(text), times: 1 })));
    expect(added && printQuantity(added)).toBe(sum);
  }
});

test.each<readonly [readonly (number | bigint)[], string]>([
  [[1000, 1000], '2000'],
  [[0.1, 0.2], '0.3'],
  [[-0.5, 0.25], '-0.25'],
  [[1.5, 1.5], '3'],
  [[-0.5, 0.5], '0'],
  [[9007199254740993n, 9007199254740992n], '18014398509481985'],
  [[1e21, 1], '1000000000000000000001'],
  [[1e-12, 1], '1.000000000001'],
  [[2 ** 53, 1], '9007199254740993'],
])('numbers %o add up to %s, without suffixes', (numbers, sum) => {
  const added = sumQuantities(numbers.map((number) => ({ quantity: quantityOf(number), times: 1 })));
  expect(added && printQuantity(added)).toBe(sum);
});

test('an empty sum is undefined, and an infinite number is not an amount', () => {
  expect(sumQuantities([])).toBeUndefined();
  for (const number of [Number.POSITIVE_INFINITY, Number.NaN]) expect(quantityOfNumber(number)).toBeUndefined();
});

test('a multiple equals the sum of as many summands', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(quantities, fc.integer({ min: 1, max: 5 }))), (terms) => {
      const counted = terms.map(([text, times]) => ({ quantity: parse(text), times }));
      const single = counted.flatMap(({ quantity, times }) => Array.from({ length: times }, () => ({ quantity, times: 1 })));
      const [sum, expected] = [sumQuantities(counted), sumQuantities(single.toReversed())];
      expect(sum && printQuantity(sum)).toBe(expected && printQuantity(expected));
    }),
  );
});

test('a number is exactly the digits it is printed with', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(numberOfQuantity(quantityOf(number))).toBe(number === 0 ? 0 : number);
    }),
  );
});

function quantityOf(number: number | bigint): Quantity {
  const quantity = quantityOfNumber(number);
  if (quantity === undefined) throw new Error(`no amount: ${number}`);
  return quantity;
}

function parse(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new Error(`no quantity: ${text}`);
  return quantity;
}
