import type { GraphQLSchema } from 'graphql';
import { type Json, rawNumber } from '../../../src/core/json.ts';
import { keyOfKind } from '../../../src/core/kinds.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createBudget } from '../../../src/graph/context/budget.ts';
import type { GraphContext } from '../../../src/graph/context/context.ts';
import { buildGraph } from '../../../src/graph/graph.ts';
import type { Row } from '../../../src/load/reads/reads.ts';
import { convertDefinition } from '../../../src/model/convert-definition.ts';
import { createModel } from '../../../src/model/create-model.ts';
import type { Model, ModelKind } from '../../../src/model/model.ts';
import { faultReporter, OperationFaults } from '../../../src/operations/fault-report.ts';
import { answeringRelations } from '../graph/answering-relations.ts';
import { committedModel, corpusDefinitions } from '../graph/corpus.ts';
import { messageOf, nowMs, rowIn, viewOf } from '../graph/graph-messages.ts';
import { sampleOf } from '../graph/model-samples.ts';
import { noWrites } from '../graph/no-writes.ts';
import { idleContext } from '../graph/read-context.ts';
import { seededRandom } from '../seeded-random.ts';
import { type ComparedOperation, compareAnswers } from './compared-answers.ts';
import { RandomChoice } from './random-choice.ts';
import { randomDocument } from './random-document.ts';
import { countOrThrow, type OracleCounts } from './random-operations.ts';

/** Parts of the read side that messages need. A call of any other method throws. */
const reads = { servedKinds: () => [], cluster: () => undefined } as Partial<GraphContext['reads']> as GraphContext['reads'];
const nothing = {} as GraphContext['logs'] & GraphContext['streams'];

/** The model of the built-in kinds and of the definitions of real projects, if they are there. */
export function corpusModel(): Model {
  const baseline = committedModel();
  if (corpusDefinitions === undefined) return baseline;
  return createModel({ baseline, custom: corpusDefinitions.map(convertDefinition), prefixes: new Map() }).model;
}

/**
 * Compares random documents over messages about the kinds of a model. Some objects do not fit their definitions.
 *
 * @throws {Error} with the seed, the document and both answers for the first difference.
 */
export async function compareCorpusOperations(model: Model, seed: number, documents: number): Promise<OracleCounts> {
  const counts = { documents: 0, compiled: 0, bailed: 0 };
  const schema = buildGraph(model);
  const kinds = [...model.kinds.values()];
  for (let n = 0; n < documents; n += 1) {
    const choice = new RandomChoice(seededRandom(seed + n));
    const operation = corpusOperation({ model, schema, kind: choice.of(kinds), choice });
    const compared = await compareAnswers(operation);
    if (compared !== undefined) countOrThrow(compared, counts, `seed ${seed + n}: ${operation.document.text}`);
  }
  return counts;
}

interface CorpusChoice {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  readonly kind: ModelKind;
  readonly choice: RandomChoice;
}

/** Fields whose resolvers are never compiled. Few documents may have them. */
const generic = ['logs', 'yaml', 'sum', 'min', 'max', 'groups'];

function corpusOperation({ model, schema, kind, choice }: CorpusChoice): ComparedOperation {
  const root = choice.chance(0.25) ? 'resources' : kind.many;
  const mayBeGeneric = choice.chance(0.03);
  const document = randomDocument({
    schema,
    choice,
    operation: 'subscription',
    depth: 5,
    omits: (field, parent) =>
      parent === schema.getSubscriptionType() ? field.name !== root : !mayBeGeneric && generic.includes(field.name),
  });
  const cluster = viewOf('north', { taints: [{ key: 'a', effect: 'NoSchedule' }], labels: { app: 'x' } });
  const probability = choice.chance(0.6) ? 0 : choice.of([0.01, 0.1]);
  const rowOf = (rank: number): Row => {
    const { object } = sampleOf(model, kind, rank);
    const mutated = { ...(mutate(object as unknown as Json, choice, probability) as object), metadata: metadataOf(object, choice) };
    const row = rowIn(model, cluster, { key: keyOfKind(kind), object: mutated as KubernetesObject });
    return choice.chance(0.05) ? { ...row, metadataOnly: true } : row;
  };
  const rows = Array.from({ length: choice.below(12) }, (_, rank) => rowOf(rank % 9));
  const rootValue = messageOf(model, { kind, cluster, added: rows, modified: rows.slice(0, 2), deleted: [] });
  const relations = answeringRelations(model, cluster, 'Pod');
  return { schema, document, rootValue, attempts: () => attemptsOver(relations) };
}

function attemptsOver(relations: GraphContext['relations']): ReturnType<ComparedOperation['attempts']> {
  let report = new OperationFaults();
  const newContext = (executor: 'compiled' | 'graphql-js'): GraphContext => {
    report = new OperationFaults();
    return {
      ...{ reads, streams: nothing, logs: nothing },
      ...noWrites,
      relations,
      read: idleContext({ reportFault: faultReporter(report, executor) }),
      gateway: { version: '0.0.0', demo: false, readOnly: false, schemaHash: 'hash', schemaBuiltAtMs: 0 },
      clock: { now: () => nowMs },
      budget: createBudget(() => undefined),
    };
  };
  return { attempts: { newContext, throwIfOver: () => undefined }, effects: () => [JSON.stringify(report.reported())] };
}

function metadataOf({ metadata }: KubernetesObject, choice: RandomChoice): object {
  return {
    ...metadata,
    uid: choice.chance(0.02) ? undefined : metadata.uid,
    labels: choice.of<unknown>([undefined, { app: 'web' }, { app: 'web', __proto__: null }, {}]),
    annotations: choice.of<unknown>([undefined, { a: 'b' }]),
    generation: choice.of<unknown>([undefined, 1, rawNumber('9007199254740993'), 2 ** 60]),
    finalizers: choice.of<unknown>([undefined, ['a'], []]),
    ownerReferences: choice.of<unknown>([
      undefined,
      [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'b', controller: true }],
      [{}],
      'text',
    ]),
  };
}

/** Returns the value with some of its parts replaced by values of other types. */
function mutate(value: Json, choice: RandomChoice, probability: number): Json | undefined {
  if (choice.chance(probability))
    return choice.of<Json | undefined>([
      null,
      undefined,
      'text',
      7,
      2 ** 40,
      true,
      [],
      {},
      [null],
      ['a', 1],
      { a: 1 },
      rawNumber('12345678901234567890'),
    ]);
  if (Array.isArray(value)) return value.map((element: Json) => mutate(element, choice, probability) ?? null);
  if (typeof value !== 'object' || value === null || 'rawJSON' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mutate(member as Json, choice, probability)]));
}
