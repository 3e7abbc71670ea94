import { createHash } from 'node:crypto';
import { type GraphQLSchema, isIntrospectionType, isSpecifiedDirective, isSpecifiedScalarType, printDirective, printType } from 'graphql';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { runAtOnce, type Steps, TimeSliceScheduler } from '../core/scheduling/operation-scheduler.ts';
import type { Model, ModelKind, ModelType, TypeReference } from '../model/model.ts';
import { buildGraphInSteps, type GraphOptions } from './graph.ts';

/** A schema with the model that it was built from. */
interface BuiltSchema {
  readonly schema: GraphQLSchema;
  readonly model: Model;
  /** The time at which the schema was built, in Unix milliseconds. */
  readonly builtAtMs: number;
  /**
   * A hash of the printed schema. Equal for equal schemas in all gateways. The first schema is printed when its hash is first read, later ones
   * before they are used.
   */
  readonly hash: string;
  /** Returns the printed schema. */
  sdl(): string;
}

/** The source of models: `load/catalog`. */
export interface ModelSource {
  model(): Model;
  /** Returns the reason why a group is missing from the model. Undefined if none is missing. */
  problem(): string | undefined;
  /** Calls back with each new model until the signal aborts. */
  onModel(callback: (model: Model) => void, signal: AbortSignal): void;
}

/** The schema that is currently in use. */
export interface LiveSchema {
  /** Returns the current schema. It is replaced as a whole, so an operation can keep its schema until it ends. */
  current(): BuiltSchema;
  /** Returns the reason why kinds are missing, or why the newest model is not in use. Undefined if there is none. */
  problem(): string | undefined;
  /** True from the arrival of a model until its schema is in use and logged, or its build has failed. */
  isBuilding(): boolean;
  /** Calls back after each swap until the signal aborts. */
  onSwap(callback: () => void, signal: AbortSignal): void;
}

export interface LiveSchemaOptions {
  readonly models: ModelSource;
  /** Options of each schema that is built. */
  readonly graph?: GraphOptions;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Builds a schema from the model, and again from each new one, until the signal aborts. The first is built at once. Later ones are built in slices of the
 * event loop while the last one serves. Models that arrive during a build are skipped, except the newest.
 *
 * A group of custom kinds that makes no valid schema stays as it last was, or is left out. If nothing helps, the last good schema stays. Each swap is logged with what
 * changed.
 *
 * @throws {Error} if the first model makes no schema even without custom kinds.
 */
export function createLiveSchema({ models, graph, clock, log }: LiveSchemaOptions, signal: AbortSignal): LiveSchema {
  const timeSlices = new TimeSliceScheduler(clock);
  const readers = new Set<() => void>();
  let newest: Model | undefined;
  let building = false;
  let failure: string | undefined;
  let current = runAtOnce(build(models.model(), undefined));

  function* build(model: Model, good: Model | undefined): Steps<PrintableSchema> {
    const { schema, used, problem } = yield* buildLargestGraph({ model, good, graph });
    const built = new PrintableSchema(schema, used, clock.now());
    if (good !== undefined) yield* built.print();
    failure = problem;
    if (problem !== undefined) log.error({ schemaProblem: problem }, 'some groups of kinds differ from their definitions in the clusters');
    return built;
  }

  function* rebuild(): Steps<void> {
    for (let model = newest; model !== undefined; model = newest) {
      newest = undefined;
      const before = current;
      try {
        current = yield* build(model, before.model);
      } catch (error) {
        failure = messageOf(error);
        log.error({ schemaProblem: failure }, 'a new schema cannot be built: the last good one stays in use');
        continue;
      }
      for (const reader of readers) reader();
      const changes = yield* changesOf(yield* before.print(), yield* current.print());
      log.info({ changes: changes.length, first: changes.slice(0, maxChangesLogged), schemaHash: current.hash }, 'a new schema is in use');
    }
    building = false;
  }

  models.onModel((model) => {
    newest = model;
    if (building) return;
    building = true;
    const done = timeSlices.createSlices(() => signal.throwIfAborted()).run(rebuild());
    if (done instanceof Promise)
      done.catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
  }, signal);
  return {
    current: () => current,
    problem: () => [models.problem(), failure].filter((text) => text !== undefined).join('; ') || undefined,
    isBuilding: () => building,
    onSwap(callback, until) {
      readers.add(callback);
      until.addEventListener('abort', () => readers.delete(callback), { once: true });
    },
  };
}

class PrintableSchema implements BuiltSchema {
  readonly schema: GraphQLSchema;
  readonly model: Model;
  readonly builtAtMs: number;
  #printed: PrintedSchema | undefined;

  constructor(schema: GraphQLSchema, model: Model, builtAtMs: number) {
    this.schema = schema;
    this.model = model;
    this.builtAtMs = builtAtMs;
  }

  get hash(): string {
    return runAtOnce(this.print()).hash;
  }

  sdl(): string {
    return runAtOnce(this.print()).text();
  }

  *print(): Steps<PrintedSchema> {
    this.#printed ??= yield* printInSteps(this.schema);
    return this.#printed;
  }
}

interface WantedSchema {
  readonly model: Model;
  /** The model of the schema in use. Undefined for the first build. */
  readonly good: Model | undefined;
  readonly graph: GraphOptions | undefined;
}

interface BuiltParts {
  readonly schema: GraphQLSchema;
  readonly used: Model;
  readonly problem: string | undefined;
}

/**
 * Builds the schema of the whole model. If that fails, tries the models of `remedies` one after the other: the groups of custom kinds that cannot be
 * built are as in `good`, or left out.
 *
 * @throws the first error, if no attempt succeeds.
 */
function* buildLargestGraph({ model, good, graph }: WantedSchema): Steps<BuiltParts> {
  try {
    return { schema: yield* buildGraphInSteps(model, graph), used: model, problem: undefined };
  } catch (error) {
    const broken = yield* brokenGroupsOf(model);
    for (const used of remedies(model, broken, good)) {
      try {
        const schema = yield* buildGraphInSteps(used, graph);
        return { schema, used, problem: [[...broken].join(', '), messageOf(error)].filter(Boolean).join(': ') };
      } catch {
        // The next attempt uses less of the model. The first error is reported.
      }
    }
    throw error;
  }
}

/** Returns the custom groups that make no valid schema even without the other custom groups. */
function* brokenGroupsOf(model: Model): Steps<ReadonlySet<string>> {
  const broken = new Set<string>();
  for (const group of customGroupsOf(model)) {
    try {
      yield* buildGraphInSteps(onlyGroup(model, group));
    } catch {
      broken.add(group);
    }
  }
  return broken;
}

/**
 * Returns the models to try after the whole model has failed. With a good model: the model with the `broken` groups as the good model has them,
 * then the model without these groups. Without a good model: the model without these groups, then only the built-in kinds.
 */
function remedies(model: Model, broken: ReadonlySet<string>, good: Model | undefined): readonly Model[] {
  const rest = withoutGroups(model, broken);
  if (good === undefined) return [rest, withoutGroups(model, customGroupsOf(model))];
  const others = new Set([...customGroupsOf(good)].filter((group) => !broken.has(group)));
  const asTheyWere = withoutGroups(good, others);
  return [{ kinds: new Map([...asTheyWere.kinds, ...rest.kinds]), types: new Map([...asTheyWere.types, ...rest.types]) }, rest];
}

function onlyGroup(model: Model, group: string): Model {
  return withoutGroups(model, new Set([...customGroupsOf(model)].filter((other) => other !== group)));
}

function customGroupsOf(model: Model): ReadonlySet<string> {
  return new Set([...model.kinds.values()].filter(({ source }) => source !== 'BUILT_IN').map(({ group }) => group));
}

const maxChangesLogged = 20;

/** Number of type names that one step compares. */
const namesPerStep = 100;

/** Returns one line for each type that was added, removed or changed. */
function* changesOf(before: PrintedSchema, after: PrintedSchema): Steps<readonly string[]> {
  const changes: string[] = [];
  let left = namesPerStep;
  for (const name of new Set([...before.types.keys(), ...after.types.keys()])) {
    const [old, now] = [before.types.get(name), after.types.get(name)];
    if (old === undefined) changes.push(`Type ${name} was added.`);
    else if (now === undefined) changes.push(`Type ${name} was removed.`);
    else if (old !== now) changes.push(`Type ${name} was changed.`);
    if (--left > 0) continue;
    left = namesPerStep;
    yield;
  }
  return changes;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 1_000) : 'the schema cannot be built';
}

/** A printed schema, kept type by type. */
interface PrintedSchema {
  /** The printed types by name, without introspection types and the five scalars of GraphQL itself. */
  readonly types: ReadonlyMap<string, string>;
  /** A hash of the whole text, with 32 hexadecimal digits. */
  readonly hash: string;
  /** Returns the whole text of `printSchema`, and a line break. */
  text(): string;
}

/** Prints a schema, one type in each step. Its root types must have the names `Query`, `Mutation` and `Subscription`. */
function* printInSteps(schema: GraphQLSchema): Steps<PrintedSchema> {
  const directives = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
  const parts = directives.map(printDirective);
  const types = new Map<string, string>();
  const hash = createHash('sha256').update(parts.join('\n\n'));
  for (const type of Object.values(schema.getTypeMap())) {
    if (isSpecifiedScalarType(type) || isIntrospectionType(type)) continue;
    const text = printType(type);
    hash.update(parts.length === 0 ? text : `\n\n${text}`);
    parts.push(text);
    types.set(type.name, text);
    yield;
  }
  return { types, hash: hash.update('\n').digest('hex').slice(0, 32), text: () => `${parts.join('\n\n')}\n` };
}

/**
 * Returns the model without the custom kinds of these groups, and without the types that only they need. Returns the model itself if there are
 * no groups.
 */
function withoutGroups(model: Model, groups: ReadonlySet<string>): Model {
  if (groups.size === 0) return model;
  const kinds = new Map([...model.kinds].filter(([, { group, source }]) => source === 'BUILT_IN' || !groups.has(group)));
  return { kinds, types: typesNeededBy(model, kinds.values()) };
}

function typesNeededBy(model: Model, kinds: Iterable<ModelKind>): ReadonlyMap<string, ModelType> {
  const needed = new Set<string>();
  const waiting = [...kinds].map(({ type }) => type);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (needed.has(name)) continue;
    needed.add(name);
    for (const { type } of model.types.get(name)?.fields ?? []) waiting.push(...namesIn(type));
  }
  return new Map([...model.types].filter(([name]) => needed.has(name)));
}

function namesIn(type: TypeReference): readonly string[] {
  if ('scalar' in type) return [];
  return 'list' in type ? namesIn(type.list) : [type.type];
}
