import type { ComponentChildren } from 'preact';
import { objectSummary } from '../../core/columns/summary-columns.ts';
import { now } from '../browser/now.ts';
import { usePolled } from '../gateway/use-polled.ts';
import type { ShownKind } from '../objects/kind-names.ts';
import { hrefOfObject, toneOfStatus } from '../objects/object-columns.ts';
import { Alert } from '../parts/alert.tsx';
import { ownersOf, relationsQuery, type TreeObject, type TreeObjects } from './relations.ts';

interface RelationsAnswer {
  readonly resource: TreeObject | null;
}

/** Shows what owns an object, above it, and what it owns, below it. */
export function RelationsTab({ id, kind }: { readonly id: string; readonly kind: ShownKind }) {
  const { data, failure } = usePolled<RelationsAnswer>({ query: relationsQuery(kind), variables: { id }, everyMs: 3_000 });
  const item = data?.resource;
  if (failure !== undefined) return <Alert>{failure.message}</Alert>;
  if (data === undefined) return <p class="status-line">Loading</p>;
  if (item === undefined || item === null) return <p class="status-line">The object is gone.</p>;
  const owners = ownersOf(item);
  const isAlone = owners.length === 0 && (item.owned?.items.length ?? 0) === 0;
  return (
    <>
      {isAlone ? <p class="status-line">Nothing owns this object, and it owns nothing.</p> : null}
      <div role="tree" aria-label="Relations" class="tree" onKeyDown={moveInTree}>
        <Chain owners={owners} item={item} />
      </div>
      {item.selected === undefined || item.selected === null ? null : <SelectedPods pods={item.selected} />}
    </>
  );
}

function SelectedPods({ pods }: { readonly pods: TreeObjects }) {
  if (pods.items.length === 0) return <p class="status-line">It selects no Pods.</p>;
  return (
    <>
      <h2>Pods that it selects</h2>
      <div role="tree" aria-label="Pods that it selects" class="tree" onKeyDown={moveInTree}>
        <TreeItems {...pods} />
      </div>
    </>
  );
}

/** Shows the owners, the outermost first and each inside its own owner. The innermost item is the object itself. */
function Chain({ owners: [owner, ...rest], item }: { readonly owners: readonly TreeObject[]; readonly item: TreeObject }) {
  if (owner === undefined) return <TreeItem item={item} isCurrent />;
  return (
    <TreeNode item={owner}>
      <Chain owners={rest} item={item} />
    </TreeNode>
  );
}

function TreeItem({ item, isCurrent = false }: { readonly item: TreeObject; readonly isCurrent?: boolean }) {
  const { items, totalCount } = item.owned ?? { items: [], totalCount: 0 };
  if (items.length === 0) return <TreeNode item={item} isCurrent={isCurrent} />;
  return (
    <TreeNode item={item} isCurrent={isCurrent}>
      <TreeItems items={items} totalCount={totalCount} />
    </TreeNode>
  );
}

function TreeItems({ items, totalCount }: TreeObjects) {
  return (
    <>
      {items.map((one) => (
        <TreeItem key={one.id} item={one} />
      ))}
      {totalCount > items.length ? (
        <div role="treeitem" class="tree-more">
          and {totalCount - items.length} more
        </div>
      ) : null}
    </>
  );
}

interface TreeNodeProps {
  readonly item: TreeObject;
  readonly isCurrent?: boolean;
  readonly children?: ComponentChildren;
}

function TreeNode({ item, isCurrent = false, children }: TreeNodeProps) {
  const { ready, status, age } = objectSummary(item, { nowMs: now.value, isMixed: false });
  return (
    <div
      role="treeitem"
      aria-expanded={children === undefined ? undefined : true}
      aria-current={isCurrent ? 'true' : undefined}
      class="tree-item"
    >
      <div class="tree-line">
        <span class="kind-tag">{item.kind}</span>
        <a href={hrefOfObject(item)}>{item.metadata.name}</a>
        {ready === '' ? null : <span class="dim">{ready}</span>}
        {status === '' ? null : <span class={toneOfStatus(status)}>{status}</span>}
        <span class="dim">{age}</span>
      </div>
      {children === undefined ? null : (
        <div role="group" class="tree-group">
          {children}
        </div>
      )}
    </div>
  );
}

/** Moves between the links of the tree with the arrow keys. */
function moveInTree(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof HTMLElement)) return;
  const links = [...event.currentTarget.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  event.preventDefault();
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
}
