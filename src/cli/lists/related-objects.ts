import { keyOfKind } from '../../core/kinds.ts';
import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';
import type { ResolvedKind } from '../client/resolve-kinds.ts';
import type { ListedItem } from '../columns/printed-column.ts';
import { summaryFragment } from '../columns/summary-columns.ts';

/** Objects that one is related to in a certain way. */
export interface RelationObjects {
  /** Such as `node` or `services`: as the schema calls it. */
  readonly relation: string;
  /** The first of them. */
  readonly items: readonly ListedItem[];
  /** How many there are beside these. */
  readonly more: number;
}

/** A page of a relation to many. */
export interface RelatedObjectPage<Item> {
  readonly totalCount: number;
  readonly items: readonly Item[];
  readonly faults: readonly ClusterFault[];
}

/** So many objects of one relation are asked for. */
export const maxRelated = 20;

interface Relations {
  readonly one?: readonly string[];
  readonly many?: readonly string[];
  /** What it may own, where that is known; of a custom kind anything. */
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

/** The selection of all that an object of the kind is related to, besides its events. It uses the fragment of `propagationSummary`. */
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

/** What an object is related to, of the answer to that selection: one relation after the other, none without objects. */
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

/** What clusters could not say of relations to many, in the answer to that selection. */
export function relatedFaultsIn(kind: ResolvedKind, answer: object): readonly ClusterFault[] {
  const found = new Map(Object.entries(answer));
  return ['owned', ...(relationsOf(kind).many ?? [])].flatMap(
    (name) => (found.get(name) as RelatedObjectPage<ListedItem> | undefined)?.faults ?? [],
  );
}

function relationsOf(kind: ResolvedKind): Relations {
  return relationsOfKinds[keyOfKind(kind)] ?? (kind.source === 'CUSTOM' ? { owned: [] } : {});
}
