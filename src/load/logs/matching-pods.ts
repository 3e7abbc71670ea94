import { type Access, type AccessRequest, isUnchecked } from '../../access/access.ts';
import { type Fault, fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import { compareText } from '../../core/text.ts';
import { findCandidates, visibleNamespaces } from '../../store/filter/candidates.ts';
import { hintsOfSelector, type IndexHint } from '../../store/filter/index-hints.ts';
import type { StoreReader } from '../../store/mirror-store.ts';
import type { QueryVisibility } from '../../store/query-source.ts';
import type { CheckedSelection } from './log-arguments.ts';
import { podContainersOf } from './pod-containers.ts';

/** The kind whose containers write logs. */
export const podKind = { group: '', kind: 'Pod' };

/** Returns the Pods of one cluster that are selected and visible to the caller, ordered by namespace and name, by code units. */
export function podsIn(store: StoreReader, selection: CheckedSelection, visibility: QueryVisibility): readonly KubernetesObject[] {
  const { namespaces, names, selector } = selection;
  const byName: readonly IndexHint[] = names === undefined ? [] : [{ by: 'name', values: [...names] }];
  const hints = [...byName, ...(selector === undefined ? [] : hintsOfSelector(selector))];
  const candidates = findCandidates(store, visibleNamespaces(namespaces, visibility), hints);
  return candidates.flatMap((pods) => pods.filter((pod) => isPodSelected(pod, selection))).sort(byPlace);
}

/** True for a Pod that matches the namespaces, names and labels of the selection. The clusters of the selection are not checked. */
export function isPodSelected({ metadata }: KubernetesObject, { namespaces, names, selector }: CheckedSelection): boolean {
  return (
    (names === undefined || names.has(metadata.name)) &&
    (namespaces === undefined || namespaces.includes(metadata.namespace ?? '')) &&
    (selector === undefined || matchesLabelSelector(selector, metadata.labels ?? undefined))
  );
}

/** Returns the selected containers of a Pod, in the order of the Pod. */
export function selectedContainers(pod: KubernetesObject, { container }: CheckedSelection): readonly string[] {
  const all = podContainersOf(pod);
  return container === undefined ? all : all.filter((name) => name === container);
}

/** The right of a caller to read logs in one cluster. */
export interface LogRight {
  /** True if the caller may read logs in no namespace. */
  readonly isNone: boolean;
  /** True if the cluster did not answer whether the caller may read logs. */
  readonly isUnchecked: boolean;
  /** Returns the reason why logs of this namespace may not be read. Undefined if they may. */
  refusal(namespace: string): Fault | undefined;
}

/** Finds out whether the caller may read logs in one cluster: `get` on `pods/log`. The right to see Pods is checked separately. */
export async function logRightIn(
  access: Access,
  { caller, cluster, namespaces }: Pick<AccessRequest, 'caller' | 'cluster' | 'namespaces'>,
  signal: AbortSignal,
): Promise<LogRight> {
  const question: AccessRequest = { caller, cluster, kind: podKind, subresource: 'log', verb: 'get', namespaces };
  const visibility = await access.visibilityOf(question, signal);
  return {
    isNone: visibility.type === 'none',
    isUnchecked: isUnchecked(visibility),
    refusal(namespace) {
      if (visibility.type === 'all') return undefined;
      if (visibility.type === 'none') return visibility.fault;
      if (visibility.namespaces.has(namespace)) return undefined;
      const message = `logs of Pods in the namespace ${namespace} may not be read`;
      return fault('FORBIDDEN', message, { cluster, kind: podKind, retry: 'NEVER' });
    },
  };
}

/** Compares Pods by namespace and name. */
export function byPlace(a: KubernetesObject, b: KubernetesObject): number {
  return compareText(a.metadata.namespace ?? '', b.metadata.namespace ?? '') || compareText(a.metadata.name, b.metadata.name);
}
