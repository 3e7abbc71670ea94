import { type GraphQLObjectType, isObjectType, type ValidatedExecutionArgs } from 'graphql';
import { runAtOnce, type Steps, type TimeSlices } from '../core/scheduling/operation-scheduler.ts';
import { allPromiseOrValues, mapPromiseOrValue, type PromiseOrValue } from '../core/scheduling/promise-or-value.ts';
import { untilAborted } from '../core/scheduling/until-aborted.ts';
import { bails } from './bail.ts';
import { FieldCollector } from './collect-fields.ts';
import { type AbstractSite, type AnswerPath, type FieldSite, hasFreshArguments } from './field-site.ts';
import { markTexts } from './json-list.ts';
import { KeptTexts, type KeptTextsBudget } from './kept-texts.ts';
import { knownResolverOf, resolverOf } from './known-resolvers.ts';
import { ProjectionRun, type ProjectionUnit } from './projection-run.ts';
import { NotCompilable, UnitWriter, type WriterScope } from './unit-writer.ts';

/** A field of the root type. Its resolver runs first. Then `complete` turns the value of the resolver into data of the answer. */
interface RootField {
  readonly key: string;
  /** The number of its `FieldSite`. Undefined for `__typename`, which has no resolver. */
  readonly site: number | undefined;
  readonly path: AnswerPath;
  readonly complete: ProjectionUnit;
}

/**
 * Maximum number of compiled selection sets of one operation: one for each root field, and one for each object type that was met where the schema has
 * an interface or union. Above it, graphql-js runs the operation.
 */
const maxUnits = 100;

/** The values for which one variant of an operation is compiled, and the budget of the JSON texts that it keeps. */
interface CompileOptions {
  /** The values of the variables in `@skip` and `@include`. */
  readonly conditions: Readonly<Record<string, boolean>>;
  readonly budget: KeptTextsBudget;
}

/** The data of an answer: plain objects, in the order of the document. */
export type ProjectedData = Readonly<Record<string, unknown>>;

/**
 * One operation as generated JavaScript, for one combination of values of the variables in `@skip` and `@include`. Arguments and all other variables
 * are read in each run.
 *
 * The constructor throws `NotCompilable` if a resolver or a type is unknown to the compiler, and `Bail` if the operation is too large.
 */
export class CompiledOperation {
  readonly #rootType: GraphQLObjectType;
  readonly #roots: readonly RootField[];
  readonly #sites: FieldSite[] = [];
  readonly #abstractSites: (AbstractSite & { readonly units: Map<string, ProjectionUnit> })[] = [];
  readonly #scope: WriterScope;
  readonly #schema: ValidatedExecutionArgs['schema'];
  #units = 0;

  constructor({ schema, operation, fragmentDefinitions: fragments }: ValidatedExecutionArgs, { conditions, budget }: CompileOptions) {
    const rootType = schema.getRootType(operation.operation);
    if (rootType == null) throw new NotCompilable('no root type');
    const collector = new FieldCollector({ schema, fragments, conditions });
    this.#schema = schema;
    this.#rootType = rootType;
    this.#scope = {
      collect: (type, nodes) =>
        collector.collect(
          type,
          nodes.map(({ selectionSet }) => selectionSet),
        ),
      addSite: (site) => this.#sites.push(site) - 1,
      createTexts: (sourceOf) => new KeptTexts(budget, sourceOf),
      addAbstractSite: (site) => this.#abstractSites.push({ ...site, units: new Map() }) - 1,
    };
    this.#roots = [...collector.collect(rootType, [operation.selectionSet])].map(([key, nodes]) => this.#rootField(key, nodes));
  }

  /**
   * Runs the operation. All resolvers of root fields begin at once, as in graphql-js. Then their values are turned into data, in the time slices of
   * the operation. Returns data and no promise if no root resolver waits and the first slice is enough.
   *
   * @throws {Bail} if a value is not what the compiled code expects. Also throws what resolvers throw, and the reason of an abort.
   */
  run(validated: ValidatedExecutionArgs, slices: TimeSlices | undefined): PromiseOrValue<ProjectedData> {
    const run = new ProjectionRun({ sites: this.#sites, unitFor: this.#unitFor }, validated);
    const { rootValue, contextValue } = validated;
    const values = this.#resolveRoots(({ field, site, path }) =>
      resolverOf(field)(rootValue, run.args(site), contextValue, run.info(site, path)),
    );
    const project = (resolved: readonly unknown[]) => {
      const steps = this.#project(resolved, run, contextValue);
      return slices === undefined ? runAtOnce(steps) : slices.run(steps);
    };
    const all = allPromiseOrValues(values);
    if (!(all instanceof Promise)) return project(all);
    return mapPromiseOrValue(settled(all, validated.externalAbortSignal), project);
  }

  #resolveRoots(resolve: (root: { field: FieldSite['field']; site: number; path: AnswerPath }) => unknown): readonly unknown[] {
    const values: unknown[] = [];
    try {
      for (const { site, path } of this.#roots) {
        const { field } = (site === undefined ? undefined : this.#sites[site]) ?? {};
        values.push(site === undefined || field === undefined ? this.#rootType.name : resolve({ field, site, path }));
      }
      return values;
    } catch (error) {
      // The promises that already began may also fail later. Their errors are ignored: one error is enough to fail the attempt.
      for (const value of values) if (value instanceof Promise) value.catch(() => undefined);
      throw error;
    }
  }

  *#project(values: readonly unknown[], run: ProjectionRun, context: unknown): Steps<ProjectedData> {
    const data: [string, unknown][] = [];
    for (const [index, { key, path, complete }] of this.#roots.entries()) {
      const done = complete.project(values[index], context, run, path);
      data.push([key, complete.isSteps ? yield* done as Steps<unknown> : done]);
    }
    const whole = Object.fromEntries(data);
    if (run.hasTexts) markTexts(whole);
    return whole;
  }

  #rootField(key: string, nodes: FieldSite['nodes']): RootField {
    const parentType = this.#rootType;
    const name = nodes[0].name.value;
    const path = { prev: undefined, key, typename: parentType.name };
    if (name === '__typename') return { key, path, site: undefined, complete: { isSteps: false, project: (value) => value } };
    const field = parentType.getFields()[name];
    const known = field && knownResolverOf(field, nodes[0]);
    if (field === undefined || known === undefined) throw new NotCompilable(`${parentType.name}.${name}`);
    const site = this.#scope.addSite({ field, nodes, parentType, freshArguments: hasFreshArguments(field, nodes[0]) });
    const complete = this.#compile({ isInList: false }, (writer) => writer.writeRootValue(field.type, nodes, known));
    return { key, path, site, complete };
  }

  #compile(place: { readonly isInList: boolean }, write: (writer: UnitWriter) => ReturnType<UnitWriter['writeObject']>): ProjectionUnit {
    this.#units += 1;
    if (this.#units > maxUnits) throw bails.size;
    const writer = new UnitWriter(this.#scope, place);
    const entry = write(writer);
    const make = new Function('k', writer.textOf(entry)) as (constants: readonly unknown[]) => ProjectionUnit['project'];
    return { isSteps: entry.isSteps, project: make(writer.constants) };
  }

  readonly #unitFor = (index: number, typeName: unknown): ProjectionUnit => {
    const site = this.#abstractSites[index];
    if (site === undefined || typeof typeName !== 'string') throw bails.type;
    const known = site.units.get(typeName);
    if (known !== undefined) return known;
    const type = this.#schema.getType(typeName);
    if (!isObjectType(type) || !this.#schema.isSubType(site.type, type)) throw bails.type;
    const unit = this.#compile(site, (writer) => writer.writeObject(type, site.nodes));
    site.units.set(typeName, unit);
    return unit;
  };
}

/** Returns the value of the promise. Rejects with the reason of the signal if the signal aborts first. */
async function settled<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const value = await untilAborted(promise, signal);
  signal.throwIfAborted();
  return value as T;
}
