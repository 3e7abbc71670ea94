import type { ListedItem } from '../../core/columns/printed-column.ts';
import { summaryDefinition, summaryFragment } from '../../core/columns/summary-columns.ts';
import { compareText } from '../../core/text.ts';
import type { ClusterFaultReport } from '../client/cluster-faults.ts';
import { allObjects, listPages } from '../client/list-pages.ts';
import type { Session } from '../client/session.ts';

/** An object with its owner references. */
export interface TreeItem extends ListedItem {
  readonly id: string;
  readonly metadata: ListedItem['metadata'] & {
    readonly uid?: string | null;
    readonly ownerReferences?: readonly OwnerReference[] | null;
  };
  /** The owner. Null: the object has no owner that the caller can read. Undefined: the query did not select the owner. */
  readonly owner?: TreeItem | null;
}

interface OwnerReference {
  readonly kind: string | null;
  readonly name: string | null;
  readonly uid: string | null;
  readonly controller: boolean | null;
}

/** An object with the objects that it owns. */
export interface TreeNode {
  readonly item: TreeItem;
  /** The owned objects, sorted by kind and name. */
  readonly owned: readonly TreeNode[];
  /** True if the object also appears further up: its owners form a circle, and the tree ends here. */
  readonly closesCircle: boolean;
}

/** A named object with its owners and the objects that it owns. */
export interface ObjectTree {
  /** The owner, its owner, and so on. Empty if the owners form a circle through the object itself. */
  readonly owners: readonly TreeItem[];
  /**
   * The reference from the outermost known object to an owner that does not exist or that the caller may not read. Undefined if there is no
   * such reference.
   */
  readonly missing: OwnerReference | undefined;
  readonly node: TreeNode;
}

/** Owners per query. The gateway allows this many nested relations. */
const ownersAtOnce = 5;

/** The largest number of uids in one query. */
const uidsAtOnce = 500;

/** The GraphQL selection that gives a `TreeItem` with its first owners. */
export const treeFields = `...Line ${ownersFields(ownersAtOnce)}`;

/** The fragments of `treeFields`. */
export const treeFragments = `fragment Line on Resource {
  id metadata { uid ownerReferences { kind name uid controller } } ...${summaryFragment}
} ${summaryDefinition}`;

function ownersFields(depth: number): string {
  return depth === 0 ? '' : `owner { ...Line ${ownersFields(depth - 1)} }`;
}

/**
 * Queries the owners of objects, and everything that the objects own at any depth. An object with several owners appears once. If owners form a
 * circle, the tree ends where an object would appear a second time.
 */
export async function readTrees(session: Session, items: readonly TreeItem[], report: ClusterFaultReport): Promise<readonly ObjectTree[]> {
  const nodes = await readOwned(session, items, report);
  const trees: ObjectTree[] = [];
  for (const [at, item] of items.entries()) {
    const node = nodes[at];
    if (node !== undefined) trees.push({ ...(await readOwners(session, item)), node });
  }
  return trees;
}

async function readOwners(session: Session, item: TreeItem): Promise<Pick<ObjectTree, 'owners' | 'missing'>> {
  const seen = new Set([item.metadata.uid]);
  const owners: TreeItem[] = [];
  let last = item;
  while (true) {
    const owner = last.owner === undefined ? await ownerOf(session, last) : last.owner;
    if (owner === null) return { owners, missing: firstReference(last) };
    if (owner.metadata.uid === item.metadata.uid) return { owners: [], missing: undefined };
    if (seen.has(owner.metadata.uid)) return { owners, missing: undefined };
    seen.add(owner.metadata.uid);
    owners.push(owner);
    last = owner;
  }
}

async function ownerOf({ gateway }: Session, { id, metadata }: TreeItem): Promise<TreeItem | null> {
  if ((metadata.ownerReferences ?? []).length === 0) return null;
  const query = `query ($id: ID!) { resource(id: $id) { ${ownersFields(ownersAtOnce)} } } ${treeFragments}`;
  const { resource } = await gateway.query<{ readonly resource: Pick<TreeItem, 'owner'> | null }>(query, { id });
  return resource?.owner ?? null;
}

function firstReference({ metadata }: TreeItem): OwnerReference | undefined {
  return inOrder(metadata.ownerReferences ?? [])[0];
}

/** Sorts owner references, controllers first. */
function inOrder(references: readonly OwnerReference[]): readonly OwnerReference[] {
  return references.toSorted((a, b) => Number(b.controller === true) - Number(a.controller === true));
}

interface GrowingNode {
  readonly item: TreeItem;
  readonly parent: GrowingNode | undefined;
  readonly owned: GrowingNode[];
  readonly closesCircle: boolean;
}

/** Reads owned objects level by level: one query for all objects of a level. */
async function readOwned(session: Session, items: readonly TreeItem[], report: ClusterFaultReport): Promise<readonly TreeNode[]> {
  const known = new Map<string, GrowingNode>();
  const roots = items.map((item) => grow(known, item, undefined));
  let level: readonly GrowingNode[] = roots;
  while (level.length > 0) {
    const next: GrowingNode[] = [];
    for (let at = 0; at < level.length; at += uidsAtOnce) {
      const owners = new Map(level.slice(at, at + uidsAtOnce).map((node) => [keyOf(node.item, node.item.metadata.uid), node]));
      for await (const item of ownedBy(session, [...owners.values()], report)) next.push(...attached(known, owners, item));
    }
    level = next;
  }
  for (const { owned } of known.values())
    owned.sort((a, b) => compareText(a.item.kind, b.item.kind) || compareText(a.item.metadata.name, b.item.metadata.name));
  return roots;
}

async function* ownedBy(session: Session, owners: readonly GrowingNode[], report: ClusterFaultReport): AsyncIterable<TreeItem> {
  const uids = [...new Set(owners.flatMap(({ item }) => item.metadata.uid ?? []))];
  const [uid, ...others] = uids;
  if (uid === undefined) return;
  // For a single uid, `eq` uses an index of the gateway.
  const where = { path: 'metadata.ownerReferences.uid', ...(others.length === 0 ? { eq: uid } : { in: uids }) };
  const options = {
    kinds: null,
    selected: { ...allObjects, where },
    fields: '...Line',
    fragments: treeFragments,
    report: ofClusters(report),
  };
  for await (const items of listPages<TreeItem>(session, options)) yield* items;
}

/**
 * Returns a report that prints faults without their kinds, so each fault once per cluster. It leaves out `NOT_SERVED`: the query covers every kind,
 * and a cluster need not serve all of them.
 */
function ofClusters(report: ClusterFaultReport): Pick<ClusterFaultReport, 'print'> {
  return {
    print: (faults) =>
      report.print(
        faults
          .filter(({ code }) => code !== 'NOT_SERVED')
          .map(({ code, message, cluster, status }) => ({ code, message, cluster, status: status ?? null })),
      ),
  };
}

/**
 * Adds an object to the tree, below its controller or, without one in the tree, below another of its owners. An object that is already in the tree is
 * added again only if it closes a circle of owners.
 *
 * @returns The node, if the object is new in the tree, because it may own other objects. Empty if it was in the tree already, or no owner of it is.
 */
function attached(known: Map<string, GrowingNode>, owners: ReadonlyMap<string, GrowingNode>, item: TreeItem): readonly GrowingNode[] {
  const parents = inOrder(item.metadata.ownerReferences ?? []).flatMap(({ uid }) => owners.get(keyOf(item, uid)) ?? []);
  const [parent] = parents.filter((owner) => reaches(owner.item, item));
  if (parent === undefined) return [];
  const same = known.get(keyOf(item, item.metadata.uid));
  if (same === undefined) return [grow(known, item, parent)];
  for (let above: GrowingNode | undefined = parent; above !== undefined; above = above.parent) {
    if (above !== same) continue;
    parent.owned.push({ item, parent, owned: [], closesCircle: true });
    break;
  }
  return [];
}

function grow(known: Map<string, GrowingNode>, item: TreeItem, parent: GrowingNode | undefined): GrowingNode {
  const node = { item, parent, owned: [], closesCircle: false };
  known.set(keyOf(item, item.metadata.uid), node);
  parent?.owned.push(node);
  return node;
}

/** True if the owner can own the object. A namespaced object owns only objects of its namespace. */
function reaches(owner: TreeItem, { metadata }: TreeItem): boolean {
  return !owner.metadata.namespace || owner.metadata.namespace === metadata.namespace;
}

/**
 * Returns a key of an object: its cluster and uid. The uid alone is not enough, because a cluster restored from the backup of another has the same
 * uids.
 */
function keyOf({ cluster }: ListedItem, uid: string | null | undefined): string {
  return `${cluster.name} ${uid}`;
}
