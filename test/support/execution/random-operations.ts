import {
  type GraphQLSchema,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { TimeSliceScheduler } from '../../../src/core/scheduling/operation-scheduler.ts';
import { bails } from '../../../src/execution/bail.ts';
import { seededRandom } from '../seeded-random.ts';
import { type Compared, type ComparedOperation, compareAnswers, over } from './compared-answers.ts';
import { RandomChoice } from './random-choice.ts';
import { type RandomDocument, randomDocument } from './random-document.ts';
import { randomSchema } from './random-graph.ts';
import { type RandomContext, RandomSource } from './random-values.ts';

/** Counts of a run of the oracle. */
export interface OracleCounts {
  documents: number;
  /** Number of answers that compiled code gave. */
  compiled: number;
  bailed: number;
}

/** Documents per random schema: making a schema takes as long as ten documents. */
const documentsPerSchema = 100;

/**
 * Compares random documents over random schemas and data, from this seed on. Each document has the seed `seed + its number`.
 *
 * @throws {Error} with the seed, the document and both answers for the first difference.
 */
export async function compareRandomOperations(seed: number, documents: number): Promise<OracleCounts> {
  const counts = { documents: 0, compiled: 0, bailed: 0 };
  let schema: GraphQLSchema | undefined;
  for (let n = 0; n < documents; n += 1) {
    const own = seed + n;
    if (schema === undefined || own % documentsPerSchema === 0) schema = randomSchema(seededRandom(own - (own % documentsPerSchema)));
    const { document, operation } = randomOperation(schema, own);
    // Validation takes longer than execution, so it checks only some documents of the generator.
    if (n % 50 === 0) expectValid(schema, document);
    const compared = await compareAnswers(operation);
    if (compared !== undefined) countOrThrow(compared, counts, `seed ${own}: ${document.text}\n${JSON.stringify(document.variables)}`);
  }
  return counts;
}

/** Counts one comparison. Throws if the two observations differ. */
export function countOrThrow({ expected, actual, isCompiled, bails: reasons }: Compared, counts: OracleCounts, about: string): void {
  counts.documents += 1;
  counts.compiled += Number(isCompiled);
  counts.bailed += reasons.length;
  const texts = [expected, actual].map(({ answer, effects }) => [answer, ...effects].join('\n'));
  if (texts[0] !== texts[1] && actual.answer !== 'over') throw new Error(`${about}\nexpected ${texts[0]}\ngot      ${texts[1]}`);
}

function randomOperation(schema: GraphQLSchema, seed: number): { document: RandomDocument; operation: ComparedOperation } {
  const choice = new RandomChoice(seededRandom(seed));
  const document = randomDocument({ schema, choice, operation: 'query', depth: 4 });
  const probability = choice.chance(0.6) ? 0 : choice.of([0.01, 0.05, 0.2]);
  const root = new RandomSource('Query', seed, { schema, probability });
  const most = choice.chance(0.1) ? choice.below(12) : 10_000;
  const isSliced = choice.chance(0.15);
  const abortsAfter = isSliced && choice.chance(0.3) ? choice.below(6) : undefined;
  return {
    document,
    operation: {
      schema,
      document,
      attempts: (by) => attemptsOver(root, { most, isSliced, abortsAfter: by === 'compiled' ? abortsAfter : undefined }),
    },
  };
}

interface RandomLimits {
  /** Objects that the operation may charge. */
  readonly most: number;
  /** True if the operation must pause often. */
  readonly isSliced: boolean;
  /** Number of pauses after which the operation is over. Default: it never is. */
  readonly abortsAfter: number | undefined;
}

function attemptsOver(root: RandomSource, { most, isSliced, abortsAfter }: RandomLimits): ReturnType<ComparedOperation['attempts']> {
  let context: (RandomContext & { charged: number }) | undefined;
  let checks = 0;
  const throwIfOver = () => {
    if (abortsAfter !== undefined && checks >= abortsAfter) throw over;
  };
  const newContext = (by: 'compiled' | 'graphql-js') => {
    let nowMs = 0;
    const clock = { monotonic: () => (nowMs += 3) };
    const timeSlices = new TimeSliceScheduler(clock).createSlices(() => {
      checks += 1;
      throwIfOver();
    });
    const made: RandomContext & { charged: number } = {
      root,
      log: [],
      charged: 0,
      read: isSliced ? { timeSlices } : {},
      charge(objects) {
        made.charged += objects;
        if (made.charged > most) throw new Error(`too costly: ${most}`);
      },
      misfit() {
        if (by === 'compiled') throw bails.misfit;
        made.log.push('misfit');
        return undefined;
      },
      *iterate(list) {
        for (const element of list) {
          const pause = isSliced ? timeSlices.pause() : undefined;
          const later = pause?.then(() => element);
          // After an error in a list, graphql-js waits for the other elements, but stops at an element whose `then` returns nothing. Random data has such
          // elements, and objects of clusters do not: JSON has no functions.
          later?.catch(() => undefined);
          yield later ?? element;
        }
      },
    };
    context = made;
    return made;
  };
  // Promises may change the order of calls, so the log is compared without it.
  const effects = () => [String(context?.charged), ...(context?.log ?? []).toSorted()];
  return { attempts: { newContext, throwIfOver }, effects };
}

/**
 * Rules that random documents may break: a field that was left out may leave an unused variable or fragment, and fields of different types may
 * have one key. Execution is defined for them too.
 */
const lenient = [NoUnusedVariablesRule, NoUnusedFragmentsRule, OverlappingFieldsCanBeMergedRule];
const rules = specifiedRules.filter((rule) => !lenient.includes(rule));

function expectValid(schema: GraphQLSchema, { text }: RandomDocument): void {
  const errors = validate(schema, parse(text), rules);
  if (errors.length > 0) throw new Error(`expected a valid document, got ${errors.join('; ')}\n${text}`);
}
