import type { ListedItem } from '../../core/columns/printed-column.ts';
import { summaryDefinition, summaryFragment } from '../../core/columns/summary-columns.ts';
import { keyOfKind } from '../../core/kinds.ts';

/** An object in the tree, with its owners and the objects that it owns, as far as the query selects them. */
export interface TreeObject extends ListedItem {
  readonly id: string;
  readonly owner?: TreeObject | null;
  readonly owned?: TreeObjects | null;
  /** The Pods that a Service selects. */
  readonly selected?: TreeObjects | null;
}

/** Objects of the tree, and the number of all of them. */
export interface TreeObjects {
  readonly totalCount: number;
  readonly items: readonly TreeObject[];
}

/** One level of the tree below an object. */
interface OwnedLevel {
  /** Undefined: all kinds. */
  readonly kinds: readonly string[] | undefined;
  /** The maximum number of objects below one object. The number of further ones is shown. */
  readonly first: number;
}

const pods: OwnedLevel = { kinds: ['Pod'], first: 200 };
const podsAndRevisions: OwnedLevel = { kinds: ['Pod', 'ControllerRevision.apps'], first: 200 };

/** The levels below an object of a kind. Other built-in kinds own nothing. The gateway limits the product of all levels. */
const ownedLevels: Readonly<Record<string, readonly OwnedLevel[]>> = {
  'Deployment.apps': [{ kinds: ['ReplicaSet.apps'], first: 20 }, pods],
  'ReplicaSet.apps': [pods],
  ReplicationController: [pods],
  'StatefulSet.apps': [podsAndRevisions],
  'DaemonSet.apps': [podsAndRevisions],
  'CronJob.batch': [{ kinds: ['Job.batch'], first: 20 }, pods],
  'Job.batch': [pods],
  Service: [{ kinds: ['EndpointSlice.discovery.k8s.io'], first: 50 }],
};

/** A custom kind may own any kind, such as Deployments with their ReplicaSets and Pods. */
const levelsOfCustomKinds: readonly OwnedLevel[] = [
  { kinds: undefined, first: 50 },
  { kinds: ['ReplicaSet.apps', 'Job.batch', 'Pod'], first: 20 },
  { kinds: ['Pod'], first: 20 },
];

/** Maximum number of owners above an object that are shown. The gateway allows no deeper query. */
const maxOwners = 4;

/** Returns the query for the tree of one object. */
export function relationsQuery(kind: { readonly group: string; readonly kind: string; readonly source: string }): string {
  const levels = ownedLevels[keyOfKind(kind)] ?? (kind.source === 'CUSTOM' ? levelsOfCustomKinds : []);
  const selected =
    keyOfKind(kind) === 'Service' ? `... on Service { selected: pods(first: ${pods.first}) { totalCount items { ...Line } } }` : '';
  return `query ($id: ID!) { resource(id: $id) { ...Line ${ownersFields(maxOwners)} ${ownedFields(levels)} ${selected} } }
    fragment Line on Resource { id ...${summaryFragment} } ${summaryDefinition}`;
}

function ownersFields(depth: number): string {
  return depth === 0 ? '' : `owner { ...Line ${ownersFields(depth - 1)} }`;
}

function ownedFields([level, ...below]: readonly OwnedLevel[]): string {
  if (level === undefined) return '';
  const kinds = level.kinds === undefined ? '' : `kinds: ${JSON.stringify(level.kinds)}, `;
  return `owned(${kinds}first: ${level.first}) { totalCount items { ...Line ${ownedFields(below)} } }`;
}

/** Returns the owners of an object, the outermost first. */
export function ownersOf(item: TreeObject): readonly TreeObject[] {
  const owners: TreeObject[] = [];
  for (let owner = item.owner; owner !== undefined && owner !== null; owner = owner.owner) owners.unshift(owner);
  return owners;
}
