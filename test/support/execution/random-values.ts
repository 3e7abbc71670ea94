import {
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import type { TimeSlices } from '../../../src/core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../../../src/core/scheduling/promise-or-value.ts';
import { seededRandom } from '../seeded-random.ts';
import { RandomChoice } from './random-choice.ts';

/** The context of the random resolvers. */
export interface RandomContext {
  readonly root: RandomSource;
  /** The calls of resolvers, with their arguments and info. */
  readonly log: string[];
  readonly read: { readonly timeSlices?: TimeSlices };
  /** Throws beyond the budget of the operation. */
  charge(objects: number): void;
  /** Reports a misfit. Throws in a compiled attempt. */
  misfit(): undefined;
  iterate<T>(list: readonly T[]): Iterator<PromiseOrValue<T>>;
}

/** How often a value is not what its type expects. */
export interface Oddness {
  readonly schema: GraphQLSchema;
  readonly probability: number;
}

/** An object with a random value for each of its fields. A value is made when it is first read, and depends only on the seed and its path. */
export class RandomSource {
  readonly typeName: string;
  /** The same values as properties, as far as they are JSON. */
  readonly stored: Readonly<Record<string, unknown>>;

  constructor(typeName: string, seed: number, oddness: Oddness) {
    this.typeName = typeName;
    const type = oddness.schema.getType(typeName);
    const stored: Record<string, unknown> = {};
    for (const [index, field] of (isObjectType(type) ? Object.values(type.getFields()) : []).entries()) {
      const own = (seed * 31 + index * 7919 + 17) >>> 0;
      define(this, field.name, () => randomValue(field.type, own, oddness));
      // An absent member must not be found in the prototype.
      if (own % 8 > 0) define(stored, field.name, () => storedValue(field.type, own, oddness));
    }
    this.stored = stored;
  }
}

function define(on: object, name: string, make: () => unknown): void {
  Object.defineProperty(on, name, {
    enumerable: true,
    configurable: true,
    get() {
      const value = make();
      Object.defineProperty(on, name, { value });
      return value;
    },
  });
}

/** Returns the value of a field. A value may be an instruction to throw. */
export function keyed(source: unknown, name: string): unknown {
  const value = (source as Readonly<Record<string, unknown>>)[name];
  if (value instanceof Thrown) throw value.error;
  return value;
}

/** A resolver that meets this value throws its error. */
class Thrown {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

function randomValue(type: GraphQLOutputType, seed: number, oddness: Oddness): unknown {
  const choice = new RandomChoice(seededRandom(seed));
  const nullable = getNullableType(type);
  if (choice.chance(oddness.probability)) return oddValue(nullable, choice, { seed, oddness });
  if (nullable === type && choice.chance(0.1)) return choice.of([null, undefined]);
  if (isListType(nullable)) {
    const length = choice.below(4);
    return Array.from({ length }, (_, index) => {
      const item = randomValue(nullable.ofType, (seed + 104_729 * (index + 1)) >>> 0, oddness);
      return item instanceof Thrown ? null : item;
    });
  }
  const named = getNamedType(nullable);
  if (isAbstractType(named)) return new RandomSource(choice.of(oddness.schema.getPossibleTypes(named)).name, seed, oddness);
  if (isObjectType(named)) return new RandomSource(named.name, seed, oddness);
  return leafValue(named.name, choice);
}

/** Returns a JSON value, or a list of sources: a stored value is neither a promise, nor an error, nor a function. */
function storedValue(type: GraphQLOutputType, seed: number, oddness: Oddness): unknown {
  const value = randomValue(type, seed, oddness);
  const isJson = (one: unknown): boolean =>
    one instanceof RandomSource ||
    (Array.isArray(one) ? one.every(isJson) : one === null || ['string', 'number', 'boolean'].includes(typeof one));
  return isJson(value) ? value : null;
}

function leafValue(name: string, choice: RandomChoice): unknown {
  switch (name) {
    case 'Int':
      return choice.of([0, 1, -7, 2 ** 31 - 1]);
    case 'Float':
      return choice.of([0, -0, 1.5, 1e21, 7]);
    case 'Boolean':
      return choice.chance(0.5);
    case 'Color':
      return choice.of([1, 'blue', 'GREEN']);
    case 'Twice':
      return choice.below(9);
    case 'Any':
      return choice.of<unknown>([{ a: [1, null] }, [], 'text', 0, false, Object.fromEntries([['then', 1]]), { toJSON: () => 'own' }]);
    default:
      return choice.of(['', 'text', 'ünï \u2028 "quoted"']);
  }
}

function oddValue(
  type: GraphQLOutputType,
  choice: RandomChoice,
  { seed, oddness }: { readonly seed: number; readonly oddness: Oddness },
): unknown {
  const plain = () => randomValue(type, (seed + 1) >>> 0, { ...oddness, probability: 0 });
  if (isLeafType(type) && choice.chance(0.5)) return choice.of(oddLeaves)();
  const odd: readonly (() => unknown)[] = [
    () => null,
    () => undefined,
    () => new Error('a value'),
    () => new Thrown(new TypeError('thrown')),
    () => new Thrown('no error'),
    () => Promise.resolve(plain()),
    () => rejected(),
    () => Object.fromEntries([['then', (use: (value: unknown) => void) => use(plain())]]),
    () => () => plain(),
    () => Number.NaN,
    () => Number.POSITIVE_INFINITY,
    () => 2 ** 31,
    () => 1.25,
    () => 'text',
    () => true,
    () => new Date(0),
    () => ({ valueOf: () => 7 }),
    () => ({ toJSON: () => 'json' }),
    () => new Set([plain()]),
    () => Object.assign(new Array(3), { 1: plain() }),
    () => [],
    () => new RandomSource('T4', seed, oddness),
    () => ({ typeName: 'T0' }),
    () => Object.create(null),
    () => plain(),
  ];
  return choice.of(odd)();
}

/** Values that only the exact rules for leaves tell from usual ones. */
const oddLeaves: readonly (() => unknown)[] = [
  () => 2 ** 31,
  () => 1.25,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => '7',
  () => true,
  () => () => 7,
  () => new Error('a leaf'),
  () => Promise.resolve(7),
];

function rejected(): Promise<never> {
  const promise = Promise.reject(new Error('rejected'));
  promise.catch(() => undefined);
  return promise;
}
