import { type RawNumber, rawNumber } from './json.ts';

/**
 * An exact amount: `mantissa` × 10^`exponent`.
 *
 * `format` is the notation: `binary` for `1Gi`, `decimal` for `250m`, `exponent` for `1e3`, `plain` for a number such as `2000`.
 */
export interface Quantity {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: (typeof formats)[number];
}

/** The formats, in their order of precedence for the format of a sum: see `QuantitySum`. */
const formats = ['binary', 'decimal', 'exponent', 'plain'] as const;

const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
/** The suffixes for the exponents −9, −6 … 18. */
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;

const maxTextLength = 256;
const maxExponent = 1_000;
const quantityPattern = /^([-+]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([-+]?\d{1,9}))$/;

/**
 * Reads a quantity as apimachinery's resource.Quantity does. Digits below 1n (10⁻⁹) are rounded away from zero. In contrast to
 * resource.Quantity, values beyond 2⁶³−1 are not capped.
 *
 * Undefined if the text is not a quantity, is longer than 256 characters, or has an exponent beyond ±1,000.
 */
export function parseQuantity(text: string): Quantity | undefined {
  const match = text.length > maxTextLength ? null : quantityPattern.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', binary, decimal = '', power] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  if (binary !== undefined) {
    const factor = 1n << BigInt(10 * binarySuffixes.indexOf(binary as (typeof binarySuffixes)[number]));
    return roundToNano({ mantissa: digits * factor, exponent: -fraction.length, format: 'binary' });
  }
  const exponent = power === undefined ? 3 * decimalSuffixes.indexOf(decimal as (typeof decimalSuffixes)[number]) - 9 : Number(power);
  if (Math.abs(exponent) > maxExponent) return undefined;
  return roundToNano({ mantissa: digits, exponent: exponent - fraction.length, format: power === undefined ? 'decimal' : 'exponent' });
}

/** Returns a number below, equal to or above zero if `a` is less than, equal to or greater than `b`. Exact. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  if (a.exponent === b.exponent) return compare(a.mantissa, b.mantissa);
  const [x, y] = aligned(a, b);
  return compare(x, y);
}

/**
 * Returns the same amount in units of 1n. Quantities in the same unit compare fastest. An amount finer than 1n stays unchanged;
 * `parseQuantity` never returns one.
 */
export function toNanoUnits(quantity: Quantity): Quantity {
  const { mantissa, exponent, format } = quantity;
  return exponent <= -9 ? quantity : { mantissa: mantissa * 10n ** BigInt(exponent + 9), exponent: -9, format };
}

/** Returns the exact amount of a number. Undefined if the number is not finite. */
export function quantityOfNumber(value: number | bigint): Quantity | undefined {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return { mantissa: BigInt(value), exponent: 0, format: 'plain' };
  const match = /^(-?\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(value));
  if (match === null) return undefined;
  const [, whole = '', fraction = '', power = '0'] = match;
  return { mantissa: BigInt(whole + fraction), exponent: Number(power) - fraction.length, format: 'plain' };
}

/** One summand, and how often it is added. */
interface Summand {
  readonly quantity: Quantity;
  readonly times: number;
}

/**
 * Adds amounts, in any order. The sum is exact.
 *
 * As in apimachinery's Quantity.Add, the format comes from the summands that are not zero. If their formats differ, the first of binary,
 * decimal, exponent and plain is used.
 */
export class QuantitySum {
  #sum: Omit<Quantity, 'format'> | undefined;
  #format = formats.length - 1;

  add({ quantity, times }: Summand): void {
    if (quantity.mantissa !== 0n) this.#format = Math.min(this.#format, formats.indexOf(quantity.format));
    const { exponent = quantity.exponent, mantissa = 0n } = this.#sum ?? {};
    const [before, added] = aligned({ mantissa, exponent }, { ...quantity, mantissa: quantity.mantissa * BigInt(times) });
    this.#sum = { mantissa: before + added, exponent: Math.min(exponent, quantity.exponent) };
  }

  /** The sum. Undefined if no amount was added. */
  get total(): Quantity | undefined {
    return this.#sum === undefined ? undefined : { ...this.#sum, format: formats[this.#format] ?? 'plain' };
  }
}

/** Returns the exact sum, as `QuantitySum` does. Undefined if there are no summands. */
export function sumQuantities(summands: Iterable<Summand>): Quantity | undefined {
  const sum = new QuantitySum();
  for (const summand of summands) sum.add(summand);
  return sum.total;
}

/**
 * Prints a quantity as the API server does: without a fraction, with the largest possible suffix. A binary quantity below 1,024, or with
 * a fraction, is printed as decimal.
 */
export function printQuantity(quantity: Quantity): string {
  if (quantity.mantissa === 0n) return '0';
  if (quantity.format === 'plain') return printPlain(quantity);
  if (quantity.format === 'binary') {
    const integer = integerOf(quantity);
    if (integer !== undefined && (integer >= 1024n || integer <= -1024n)) return printBinary(integer);
  }
  return printDecimal(quantity);
}

/** Returns the nearest finite double. */
export function numberOfQuantity(quantity: Quantity): number {
  const nearest = Number(`${quantity.mantissa}e${quantity.exponent}`);
  return Math.min(Math.max(nearest, -Number.MAX_VALUE), Number.MAX_VALUE);
}

/** Returns the amount as a JSON number: an integer with all its digits, else the nearest finite double. */
export function exactNumberOfQuantity(quantity: Quantity): number | RawNumber {
  const nearest = numberOfQuantity(quantity);
  if (Number.isSafeInteger(nearest) || Math.abs(nearest) === Number.MAX_VALUE) return nearest;
  const integer = integerOf(quantity);
  return integer === undefined ? nearest : rawNumber(`${integer}`);
}

/** Prints all digits, with a decimal point if there is a fraction. */
function printPlain({ mantissa, exponent }: Quantity): string {
  if (exponent >= 0) return `${mantissa * 10n ** BigInt(exponent)}`;
  const digits = `${mantissa < 0n ? -mantissa : mantissa}`.padStart(1 - exponent, '0');
  const fraction = digits.slice(exponent).replace(/0+$/, '');
  return `${mantissa < 0n ? '-' : ''}${digits.slice(0, exponent)}${fraction === '' ? '' : `.${fraction}`}`;
}

function printBinary(integer: bigint): string {
  let rest = integer;
  let power = 0;
  while (power < binarySuffixes.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    power += 1;
  }
  return `${rest}${binarySuffixes[power]}`;
}

function printDecimal({ mantissa, exponent, format }: Quantity): string {
  let rest = mantissa;
  let power = exponent;
  while (rest % 10n === 0n) {
    rest /= 10n;
    power += 1;
  }
  // Lowers the exponent to a multiple of three, and to at most that of the largest suffix.
  const shift = format === 'exponent' ? modulo(power, 3) : Math.max(modulo(power, 3), power - 18);
  rest *= 10n ** BigInt(shift);
  power -= shift;
  if (format === 'exponent') return power === 0 ? `${rest}` : `${rest}e${power}`;
  return `${rest}${decimalSuffixes[power / 3 + 3]}`;
}

function integerOf({ mantissa, exponent }: Quantity): bigint | undefined {
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return mantissa % divisor === 0n ? mantissa / divisor : undefined;
}

function roundToNano(quantity: Quantity): Quantity {
  const { mantissa, exponent } = quantity;
  if (exponent >= -9) return quantity;
  const divisor = 10n ** BigInt(-9 - exponent);
  const rest = mantissa % divisor;
  const away = rest === 0n ? 0n : rest > 0n ? 1n : -1n;
  return { ...quantity, mantissa: mantissa / divisor + away, exponent: -9 };
}

function aligned(a: Omit<Quantity, 'format'>, b: Omit<Quantity, 'format'>): readonly [bigint, bigint] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.mantissa * 10n ** BigInt(a.exponent - exponent), b.mantissa * 10n ** BigInt(b.exponent - exponent)];
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
