import { equalJson } from '../../../../src/core/json/json-values.ts';
import type { Json } from '../../../../src/core/json.ts';

/** `status` of a federated object. */
interface FederatedStatus {
  readonly observedGeneration?: number | null | undefined;
  readonly clusters?:
    | readonly { readonly name?: string; readonly status?: string | null; readonly remoteStatus?: Json }[]
    | null
    | undefined;
  readonly conditions?:
    | readonly { readonly type: string; readonly status?: string | null; readonly reason?: string | null }[]
    | null
    | undefined;
}

/** The knowledge of KubeFed after one synchronization of a federated object. */
export interface FederatedStatusUpdate {
  readonly current?: FederatedStatus | null | undefined;
  readonly generation?: number | null | undefined;
  /** Why the synchronization failed as a whole. Default: it did not. */
  readonly reason?: string | null | undefined;
  /** The result by cluster. An empty text means success. */
  readonly propagationStatus?: Readonly<Record<string, string | null>> | null | undefined;
  /** The status of the copy by cluster. */
  readonly remoteStatus?: Readonly<Record<string, Json>> | null | undefined;
  readonly resourcesUpdated?: boolean | null | undefined;
  readonly collectRemoteStatus?: boolean | null | undefined;
}

/**
 * True if KubeFed writes the status of a federated object again (docs/internals/propagation.md 8): the generation moved, the list of
 * clusters differs, copies were updated, or the condition `Propagation` is new or changes.
 */
export function statusChanged(update: FederatedStatusUpdate): { readonly changed: boolean } {
  const { current, generation } = update;
  const isGenerationNew = (current?.observedGeneration ?? 0) !== (generation ?? 0);
  const hasResults = Object.keys(update.propagationStatus ?? {}).length > 0 && Object.keys(update.remoteStatus ?? {}).length > 0;
  const isPropagated = clustersDiffer(update) || (hasResults && update.resourcesUpdated === true);
  return { changed: isGenerationNew || isPropagated || isConditionNew(update) };
}

/**
 * True if the list of clusters differs, or the status of a copy. Statuses are compared even if they are not collected, as in KubeFed. An
 * absent status and `{}` differ.
 */
function clustersDiffer({ current, propagationStatus, remoteStatus, collectRemoteStatus }: FederatedStatusUpdate): boolean {
  const clusters = current?.clusters ?? [];
  const [statuses, remotes] = [propagationStatus ?? {}, remoteStatus ?? {}];
  if (clusters.length !== Object.keys(statuses).length) return true;
  if (collectRemoteStatus === true && clusters.length !== Object.keys(remotes).length) return true;
  return clusters.some(
    ({ name = '', status, remoteStatus: remote }) =>
      (statuses[name] ?? '') !== (status ?? '') || !equalJson(remotes[name] ?? null, remote ?? null),
  );
}

function isConditionNew(update: FederatedStatusUpdate): boolean {
  const reason = reasonOf(update);
  const status = reason === '' ? 'True' : 'False';
  const known = (update.current?.conditions ?? []).find(({ type }) => type === 'Propagation');
  return known === undefined || known.status !== status || (known.reason ?? '') !== reason;
}

function reasonOf({ reason, propagationStatus, remoteStatus, collectRemoteStatus }: FederatedStatusUpdate): string {
  if ((reason ?? '') !== '') return reason ?? '';
  const isOk = ([name, status]: readonly [string, string | null]): boolean =>
    (status ?? '') === '' && (collectRemoteStatus !== true || (remoteStatus?.[name] ?? null) !== null);
  return Object.entries(propagationStatus ?? {}).every(isOk) ? '' : 'CheckClusters';
}
