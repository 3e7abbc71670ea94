import { createHash } from 'node:crypto';
import { type GraphQLSchema, isIntrospectionType, isSpecifiedScalarType, printSchema, printType } from 'graphql';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { afterwards } from '../core/now-or-later.ts';
import { type OperationSlices, Slices, type Steps } from '../core/slices.ts';
import type { Model } from '../model/model.ts';
import { buildGraph } from './graph.ts';
import { withoutGroups } from './without-groups.ts';

/** One schema with the model it was built from. */
export interface BuiltSchema {
  readonly schema: GraphQLSchema;
  readonly model: Model;
  /** Milliseconds of the epoch. */
  readonly builtAtMs: number;
  /** Of the SDL: equal for equal schemas, whichever process made them. Made when first asked for. */
  readonly hash: string;
  /** The schema as text. Made when first asked for, then kept. */
  sdl(): string;
}

/** Where models come from: load's catalogue. */
export interface ModelSource {
  model(): Model;
  /** Why some group is missing from the model, or undefined. */
  problem(): string | undefined;
  /** Calls back with each new model until the signal aborts. */
  onModel(callback: (model: Model) => void, signal: AbortSignal): void;
}

/** The schema that serves now. */
export interface LiveSchema {
  /** Replaced as a whole: whoever took one keeps it for as long as the operation runs. */
  current(): BuiltSchema;
  /** Why kinds are missing, or why the newest model does not serve. Undefined if all is well. */
  problem(): string | undefined;
}

export interface LiveSchemaOptions {
  readonly models: ModelSource;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Builds a schema from the model, and again from each new one, until the signal aborts.
 *
 * A group of custom kinds that makes no valid schema stays as it last was, or is left out. If nothing helps, the last good schema stays. Each swap is logged with what
 * changed.
 *
 * @throws {Error} if the first model makes no schema even without custom kinds.
 */
export function createLiveSchema({ models, clock, log }: LiveSchemaOptions, signal: AbortSignal): LiveSchema {
  const slices = new Slices(clock).operation(() => signal.throwIfAborted());
  let failure: string | undefined;
  let current = build(models.model(), undefined);

  function build(model: Model, good: Model | undefined): BuiltSchema {
    const { schema, used, problem } = buildWhatCanBe(model, good);
    failure = problem;
    if (problem !== undefined) log.error({ schemaProblem: problem }, 'not every group of kinds is as its clusters define it');
    return finish(schema, used, clock.now());
  }

  function rebuild(model: Model): void {
    const before = current;
    try {
      current = build(model, before.model);
    } catch (error) {
      failure = messageOf(error);
      log.error({ schemaProblem: failure }, 'the last good schema stays');
      return;
    }
    const after = current;
    // After the answers that wait for this turn, and in slices: with 80,000 fields it takes longer than building.
    setImmediate(() => {
      if (!signal.aborted) logChanges(before, after, { log, slices, signal });
    });
  }

  models.onModel(rebuild, signal);
  return {
    current: () => current,
    problem: () => [models.problem(), failure].filter((text) => text !== undefined).join('; ') || undefined,
  };
}

function finish(schema: GraphQLSchema, model: Model, builtAtMs: number): BuiltSchema {
  let text: string | undefined;
  let hash: string | undefined;
  const sdl = () => {
    text ??= `${printSchema(schema)}\n`;
    return text;
  };
  return {
    schema,
    model,
    builtAtMs,
    sdl,
    get hash() {
      hash ??= createHash('sha256').update(sdl()).digest('hex').slice(0, 32);
      return hash;
    },
  };
}

interface WhatCouldBeBuilt {
  readonly schema: GraphQLSchema;
  readonly used: Model;
  readonly problem: string | undefined;
}

/** All of it; else with the groups that cannot be built even alone as they were in the good model; else without them. */
function buildWhatCanBe(model: Model, good: Model | undefined): WhatCouldBeBuilt {
  try {
    return { schema: buildGraph(model), used: model, problem: undefined };
  } catch (error) {
    const custom = customGroupsOf(model);
    const broken = new Set([...custom].filter((group) => !canBeBuilt(onlyGroup(model, group))));
    for (const used of remedies(model, broken, good)) {
      try {
        return { schema: buildGraph(used), used, problem: [[...broken].join(', '), messageOf(error)].filter(Boolean).join(': ') };
      } catch {
        // The next remedy takes less of the model; the first error says what is wrong.
      }
    }
    throw error;
  }
}

/** In order of how much they keep. Without a good model something must serve, if only the built-in kinds. */
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

function canBeBuilt(model: Model): boolean {
  try {
    buildGraph(model);
    return true;
  } catch {
    return false;
  }
}

const maxChangesLogged = 20;

interface ChangesLog {
  readonly log: Log;
  readonly slices: OperationSlices;
  readonly signal: AbortSignal;
}

/** Logs the types that differ, in slices. Nothing is logged if the gateway ends meanwhile. */
function logChanges(before: BuiltSchema, after: BuiltSchema, { log, slices, signal }: ChangesLog): void {
  const told = afterwards(slices.run(changesOf(before.schema, after.schema)), (changes) =>
    log.info({ changes: changes.length, first: changes.slice(0, maxChangesLogged), schemaHash: after.hash }, 'another schema serves'),
  );
  if (told instanceof Promise)
    told.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
}

/** One line for each type that was added, removed or changed. Type by type, as graphql-js compares and prints only whole schemas. */
function* changesOf(before: GraphQLSchema, after: GraphQLSchema): Steps<readonly string[]> {
  const changes: string[] = [];
  for (const name of new Set([...Object.keys(before.getTypeMap()), ...Object.keys(after.getTypeMap())])) {
    const [old, now] = [before.getType(name), after.getType(name)];
    if (old === undefined) changes.push(`Type ${name} was added.`);
    else if (now === undefined) changes.push(`Type ${name} was removed.`);
    else if (!isSpecifiedScalarType(now) && !isIntrospectionType(now) && printType(old) !== printType(now))
      changes.push(`Type ${name} was changed.`);
    yield;
  }
  return changes;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 1_000) : 'it cannot be built';
}
