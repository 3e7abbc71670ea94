import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import { keyOfKind, kindsByKey, type ServedResource } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { convertDefinition, isEstablished } from '../../model/convert-definition.ts';
import type { Model } from '../../model/model.ts';
import { anyCluster, dayOf, type LockedKind } from '../../model/schema-lock.ts';
import type { KindSchema } from '../../model/shapes.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import { createCustomModel } from './custom-model.ts';
import { debounce } from './debounce.ts';
import { createDefinedKinds, type DefinedKinds } from './defined-kinds.ts';
import { type ClusterDefinitions, definitionKind, followDefinitions } from './definitions.ts';
import { createGroupTest, type GroupRules, rememberedKinds } from './group-filter.ts';
import { createKindDescriptions } from './kind-descriptions.ts';
import { noSchemaLock, type SchemaLockFile } from './schema-lock-file.ts';
import { type ClusterKinds, createUnknownKinds, type FetchDocument } from './unknown-kinds.ts';

/** The kinds of all clusters as one model. A kind never leaves the model. Its type follows the definitions in the clusters. */
export interface Catalog {
  model(): Model;
  /**
   * Returns the groups that are missing from the model, or differ from their definitions, with the reasons, and the problem of the schema
   * lock. Undefined if there are none.
   */
  problem(): string | undefined;
  /** Calls back with each new model until the signal aborts. */
  onModel(callback: (model: Model) => void, signal: AbortSignal): void;
  /**
   * Applies all known definitions at once, without the pause of `quietMs`. So a gateway that reports "ready" has the kinds that are known
   * by then.
   *
   * Also starts to fetch the descriptions of built-in kinds. The first request goes to the cluster with the newest release, some seconds
   * later.
   */
  settle(): void;
}

interface CatalogOptions {
  readonly mirrors: Mirrors;
  /** The built-in kinds. */
  readonly baseline: Model;
  /** The rules for the groups of custom kinds in the model. Default: all groups. */
  readonly groups?: GroupRules;
  /** Fetches OpenAPI documents from a cluster: for kinds that neither the baseline nor a CustomResourceDefinition has, and for descriptions. */
  readonly fetchDocument: FetchDocument;
  /** The kinds of earlier runs, and the file to remember the current ones. Default: nothing is remembered. */
  readonly lock?: SchemaLockFile;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Milliseconds without a change before the model is rebuilt, and the maximum wait. A Helm chart applies several CRDs in a row. The pause
 * joins them into one rebuild.
 */
const quietMs = 300;
const atMostMs = 1_000;

/**
 * Creates a catalog, which follows the definitions and the served kinds of all clusters until the signal aborts. A change that affects the
 * model gives a new model 0.3 to 1 s later.
 *
 * - A kind is joined from the current definitions, and from the last definitions of clusters whose definitions are not known now, such as
 *   clusters that are down.
 * - A definition that is not established changes no kind.
 * - If a definition cannot be converted, its group keeps its last kinds. A group without earlier kinds is left out. Other groups are not
 *   affected.
 * - A kind that no cluster serves any more stays, deprecated. A kind that is known only from an earlier run becomes deprecated once every
 *   cluster has reported the kinds that it serves.
 * - Groups that the rules leave out are neither converted nor requested. Built-in groups are never left out.
 */
export function createCatalog(options: CatalogOptions, signal: AbortSignal): Catalog {
  const { mirrors, baseline, clock, log, groups = {}, lock = noSchemaLock } = options;
  const belongs = createGroupTest(baseline, groups);
  const earlier = rememberedKinds(lock.earlier, baseline, belongs);
  const kinds = createDefinedKinds(earlier);
  const custom = createCustomModel({ baseline, earlier: kinds.all(), prefixes: lock.earlier.prefixes, log });
  const service = createKindService(new Map(earlier.map(({ schema, servedOn }) => [keyOfKind(schema), servedOn])), clock);
  const readers = new Set<(model: Model) => void>();
  const converted = createConversions();
  let broken: ReadonlyMap<string, string> = new Map();

  const remember = lock.keep(() => ({
    kinds: lockedKinds(kinds, service, clock),
    prefixes: custom.current().prefixes,
    clusters: mirrors.members(),
  }));
  const changed = debounce({ clock, quietMs, atMostMs, run: rebuild }, signal);
  const definitions = followDefinitions(mirrors, changed, signal);
  const descriptions = createKindDescriptions({ ...options, onDescribed: describe }, signal);
  const unknown = createUnknownKinds({ ...options, onFound: changed }, signal);
  onServedChange(mirrors, changed, signal);

  function rebuild(): void {
    const clusters = definitions.now();
    const fleet = [...mirrors.members()].map((name) => ({ name, resources: mirrors.servedKinds(name) }));
    const defined = converted.of(clusters, (definition) => belongs(groupOf(definition)) && isEstablished(definition));
    const ofCustomKinds = [...defined.schemas.values()].flat();
    broken = defined.broken;
    const isAway = createAbsentKinds(fleet);
    kinds.update({ defined: withFound(defined.schemas, unknown.found()), broken, isAway, today: dayOf(clock.now()) });
    if (custom.take(kinds.all(), service.unserved(fleet, ofCustomKinds))) notifyReaders();
    remember();
    const leftOut = listsOf(fleet).flatMap((resources) => resources.filter(({ group }) => !belongs(group)));
    const known = new Set([...baseline.kinds.keys(), ...[...ofCustomKinds, ...leftOut].map(keyOfKind)]);
    unknown.request(withDefinitions(fleet, clusters, mirrors), known);
  }

  function describe(): void {
    custom.describe(descriptions.now());
    notifyReaders();
  }

  function notifyReaders(): void {
    for (const reader of readers) reader(custom.current().model);
  }

  return {
    model: () => custom.current().model,
    problem() {
      const groups = [...broken.values(), ...custom.current().problems.map(({ message }) => message)].sort();
      return [...groups, lock.problem()].filter((text) => text !== undefined).join('; ') || undefined;
    },
    settle() {
      rebuild();
      descriptions.begin();
    },
    onModel(callback, until) {
      readers.add(callback);
      until.addEventListener('abort', () => readers.delete(callback), { once: true });
    },
  };
}

/**
 * Returns the clusters whose first list of definitions has ended, and those that serve no definitions. In other clusters, custom kinds would
 * still look like kinds without a definition.
 */
function withDefinitions(
  fleet: readonly ClusterKinds[],
  definitions: readonly ClusterDefinitions[],
  mirrors: Pick<Mirrors, 'served'>,
): readonly ClusterKinds[] {
  const settled = new Map(definitions.map(({ cluster, settled }) => [cluster, settled]));
  return fleet.filter(({ name }) => settled.get(name) ?? mirrors.served(name, definitionKind) === undefined);
}

/** Returns the lists of served kinds, each once. Clusters of one release usually share a list. */
function listsOf(fleet: readonly ClusterKinds[]): readonly (readonly ServedResource[])[] {
  return [...new Set(fleet.flatMap(({ resources }) => (resources === undefined ? [] : [resources])))];
}

/** Calls back once now, and then when the served kinds of a cluster change or a cluster leaves, until the signal aborts. */
function onServedChange(mirrors: Mirrors, callback: () => void, signal: AbortSignal): void {
  const served = new Map<ClusterName, readonly ServedResource[] | undefined>();
  mirrors.onChange(({ type, cluster }) => {
    const resources = mirrors.servedKinds(cluster);
    if (type !== 'left' && served.get(cluster) === resources) return;
    served.set(cluster, resources);
    if (type === 'left') served.delete(cluster);
    callback();
  }, signal);
  callback();
}

interface Conversions {
  /**
   * Converts the definitions for which `isAsked` is true. `schemas` has the kinds by cluster. `broken` has, by group, the reason why a
   * definition cannot be converted.
   */
  of(clusters: readonly ClusterDefinitions[], isAsked: (definition: KubernetesObject) => boolean): ConvertedDefinitions;
}

interface ConvertedDefinitions {
  readonly schemas: ReadonlyMap<ClusterName, readonly KindSchema[]>;
  readonly broken: ReadonlyMap<string, string>;
}

/** Creates the conversion of definitions. Each revision of a definition is converted once, and its result is cached. */
function createConversions(): Conversions {
  const known = new WeakMap<KubernetesObject, KindSchema | MusterError>();

  function convert(definition: KubernetesObject): KindSchema | MusterError {
    const result = known.get(definition) ?? attempt(definition);
    known.set(definition, result);
    return result;
  }

  return {
    of(clusters, isAsked) {
      const schemas = new Map<ClusterName, readonly KindSchema[]>();
      const broken = new Map<string, string>();
      for (const { cluster, objects } of clusters) {
        const ofCluster: KindSchema[] = [];
        for (const definition of objects) {
          if (!isAsked(definition)) continue;
          const result = convert(definition);
          if (result instanceof MusterError) broken.set(groupOf(definition), result.message);
          else ofCluster.push(result);
        }
        schemas.set(cluster, ofCluster);
      }
      return { schemas, broken };
    },
  };
}

/**
 * Returns the test `isAway`. For a cluster without a definition of a kind, it is true if the cluster may still have one: the cluster is in
 * the fleet, and serves the kind or has not reported its served kinds yet. For `anyCluster`, it is true if any cluster passes.
 */
function createAbsentKinds(fleet: readonly ClusterKinds[]): (cluster: string, kind: string) => boolean {
  const served = new Map(fleet.map(({ name, resources }) => [String(name), resources && kindsByKey(resources)]));
  const isAway = (cluster: string, kind: string): boolean => served.has(cluster) && served.get(cluster)?.has(kind) !== false;
  return (cluster, kind) => (cluster === anyCluster ? [...served.keys()].some((name) => isAway(name, kind)) : isAway(cluster, kind));
}

/**
 * Returns the kinds of each cluster: those with a definition, then those that were found in its OpenAPI documents. A definition has
 * precedence.
 */
function withFound(defined: ConvertedDefinitions['schemas'], found: ConvertedDefinitions['schemas']): ConvertedDefinitions['schemas'] {
  return new Map(
    [...defined, ...found].map(([cluster]) => {
      const ofCluster = defined.get(cluster) ?? [];
      const keys = new Set(ofCluster.map(keyOfKind));
      return [cluster, [...ofCluster, ...(found.get(cluster) ?? []).filter((schema) => !keys.has(keyOfKind(schema)))]];
    }),
  );
}

function attempt(definition: KubernetesObject): KindSchema | MusterError {
  try {
    return convertDefinition(definition);
  } catch (error) {
    if (error instanceof MusterError) return error;
    throw error;
  }
}

/**
 * Returns the group of the kind that a definition defines. It comes from the name `<plural>.<group>`, because the spec may be unreadable.
 */
function groupOf({ metadata: { name } }: KubernetesObject): string {
  return name.slice(name.indexOf('.') + 1);
}

function lockedKinds(kinds: DefinedKinds, service: KindService, clock: Clock): ReadonlyMap<string, LockedKind> {
  const today = dayOf(clock.now());
  return new Map(
    kinds.all().map((schema) => {
      const key = keyOfKind(schema);
      return [key, { schema, by: kinds.definitionsOf(key, today), servedOn: service.servedOn(key) ?? today }];
    }),
  );
}

/** Remembers which kinds are served, by `keyOfKind`. */
interface KindService {
  /**
   * Applies the kinds that the clusters serve and define now. Returns the kinds that were served once, and are neither served nor defined any
   * more.
   */
  unserved(fleet: readonly ClusterKinds[], defined: readonly KindSchema[]): ReadonlySet<string>;
  /**
   * Returns the last day on which the kind was served, as `dayOf` writes it: today if it is served now. Undefined if it was never served.
   */
  servedOn(key: string): string | undefined;
}

/**
 * Creates the record of served kinds. No kind counts as served before the first call of `unserved`.
 *
 * @param earlier The kinds that were served in earlier runs, each with the last day. `unserved` returns none of them before every cluster
 * has reported its served kinds, unless this run has also seen it served.
 */
function createKindService(earlier: ReadonlyMap<string, string>, clock: { now(): number }): KindService {
  const days = new Map(earlier);
  const ever = new Set<string>();
  let served: ReadonlySet<string> = new Set();
  return {
    unserved(fleet, defined) {
      const today = dayOf(clock.now());
      const definedKeys = defined.filter(({ versions }) => versions.length > 0).map(keyOfKind);
      const before = served;
      served = new Set([...listsOf(fleet).flatMap((resources) => [...kindsByKey(resources).keys()]), ...definedKeys]);
      for (const key of [...before, ...served]) days.set(key, today);
      for (const key of served) ever.add(key);
      const allHaveReported = fleet.every(({ resources }) => resources !== undefined);
      return new Set([...ever, ...(allHaveReported ? earlier.keys() : [])].filter((key) => !served.has(key)));
    },
    servedOn: (key) => (served.has(key) ? dayOf(clock.now()) : days.get(key)),
  };
}
