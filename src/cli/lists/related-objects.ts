import type { ListedItem } from '../../core/columns/printed-column.ts';
import { summaryFragment } from '../../core/columns/summary-columns.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';
import type { ResolvedKind } from '../client/resolve-kinds.ts';

/** The objects of one relation of an object. */
export interface RelationObjects {
  /** Name of the relation in the schema: `node`, `services`. */
  readonly relation: string;
  /** The first objects. */
  readonly items: readonly ListedItem[];
  /** Number of further objects. */
  readonly more: number;
}

/** A page of a to-many relation. */
export interface RelatedObjectPage<Item> {
  readonly totalCount: number;
  readonly items: readonly Item[];
  readonly faults: readonly ClusterFault[];
}

/** The largest number of objects of one relation. */
export const maxRelated = 20;

interface Relations {
  readonly one?: readonly string[];
  readonly many?: readonly string[];
  /** Kinds that the object may own. Empty: any kind. Absent if it owns nothing. */
  readonly owned?: readonly string[];
}

const relationsOfKinds: Readonly<Record<string, Relations>> = {
  Pod: { one: ['node', 'serviceAccount'], many: ['services', 'configMaps', 'claims'] },
  Node: { many: ['pods'] },
  Service: { many: ['endpointSlices', 'pods'] },
  'Ingress.networking.k8s.io': { many: ['services'] },
  PersistentVolumeClaim: { one: ['volume'], many: ['pods'] },
  'HorizontalPodAutoscaler.autoscaling': { one: ['target'] },
  'Deployment.apps': { many: ['pods'], owned: ['ReplicaSet.apps'] },
  'ReplicaSet.apps': { many: ['pods'] },
  'StatefulSet.apps': { many: ['pods'] },
  'DaemonSet.apps': { many: ['pods'] },
  'Job.batch': { many: ['pods'] },
  'CronJob.batch': { owned: ['Job.batch'] },
};

/** Returns the GraphQL selection of all related objects, except events. The query must contain `summaryDefinition`. */
export function relatedFields(kind: ResolvedKind): string {
  const { one = [], many = [], owned } = relationsOf(kind);
  const page = `{ totalCount items { ...${summaryFragment} } faults { ${faultFields} } }`;
  const toOne = one.map((name) => `${name} { ...${summaryFragment} }`);
  const toMany = many.map((name) => `${name}(first: ${maxRelated}) ${page}`);
  const kinds = owned !== undefined && owned.length > 0 ? `kinds: ${JSON.stringify(owned)}, ` : '';
  return [
    `owner { ...${summaryFragment} }`,
    ...(owned === undefined ? [] : [`owned(${kinds}first: ${maxRelated}) ${page}`]),
    ...(toOne.length + toMany.length === 0 ? [] : [`... on ${kind.type} { ${[...toOne, ...toMany].join(' ')} }`]),
  ].join(' ');
}

/** Returns the related objects in the answer to `relatedFields`, by relation. Relations without objects are left out. */
export function relatedObjectsIn(kind: ResolvedKind, answer: object): readonly RelationObjects[] {
  const found = new Map(Object.entries(answer));
  const { one = [], many = [], owned } = relationsOf(kind);
  const toOne = ['owner', ...one].map((relation) => {
    const item = found.get(relation) as ListedItem | null | undefined;
    return { relation, items: item === undefined || item === null ? [] : [item], more: 0 };
  });
  const toMany = [...(owned === undefined ? [] : ['owned']), ...many].map((relation) => {
    const page = found.get(relation) as RelatedObjectPage<ListedItem> | undefined;
    const items = page?.items ?? [];
    return { relation, items, more: Math.max(0, (page?.totalCount ?? 0) - items.length) };
  });
  return [...toOne, ...toMany].filter(({ items, more }) => items.length + more > 0);
}

/** Returns the faults of to-many relations in the answer to `relatedFields`. */
export function relatedFaultsIn(kind: ResolvedKind, answer: object): readonly ClusterFault[] {
  const found = new Map(Object.entries(answer));
  return ['owned', ...(relationsOf(kind).many ?? [])].flatMap(
    (name) => (found.get(name) as RelatedObjectPage<ListedItem> | undefined)?.faults ?? [],
  );
}

function relationsOf(kind: ResolvedKind): Relations {
  return relationsOfKinds[keyOfKind(kind)] ?? (kind.source === 'CUSTOM' ? { owned: [] } : {});
}
