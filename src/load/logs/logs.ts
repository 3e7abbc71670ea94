import type { Fault, Gathered } from '../../core/faults.ts';
import type { StreamSource } from '../../streams/stream-source.ts';
import type { ClusterView, ReadContext, Row } from '../reads/reads.ts';

/** Which containers' logs, as it comes from GraphQL. */
export interface LogSelection {
  readonly clusters?: readonly string[] | null | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly labels?: string | null | undefined;
  /** Of Pods. */
  readonly names?: readonly string[] | null | undefined;
  /** Absent: every container of each Pod, init and ephemeral ones too. */
  readonly container?: string | null | undefined;
}

/** How much of each log: the last lines of what is left by the others. At most one of `sinceSeconds` and `sinceTime`. */
export interface LogExtent {
  /** Of the container's run before this one. */
  readonly previous?: boolean | null | undefined;
  /** By the clock of the node; at least 1. */
  readonly sinceSeconds?: number | null | undefined;
  /** RFC 3339. */
  readonly sinceTime?: string | null | undefined;
  /** 0 to 10,000; by default 200, following 10. */
  readonly tailLines?: number | null | undefined;
  /** Times included: 1 to 10 MiB, by default 1 MiB; of all logs of one answer 64 MiB. Not when following. */
  readonly limitBytes?: number | null | undefined;
}

export interface LogLineView {
  /** RFC 3339, as the kubelet wrote it. */
  readonly time?: string;
  readonly text: string;
}

/** The log of one container, or why there is none. */
export interface PodLogView {
  readonly cluster: ClusterView;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** In the order of the log. */
  readonly lines: readonly LogLineView[];
  /** True if there is more than `limitBytes`: the end is missing. */
  readonly truncated: boolean;
  /** Why there is none, or no more: `lines` are what came before. */
  readonly fault?: Fault;
}

/**
 * One message of a followed log: of one container. Equal to the schema's `LogBatch`.
 *
 * `LINES`: what was written. `ENDED`: a run of the container has ended, all of it was told; lines after it are those of its next run. `FAILED`: it
 * is not followed, for now or for good, as `fault.retry` says; told once, lines after it say that it is followed again. `FAILED` of a cluster whose
 * Pods are not known has neither namespace, pod nor container: they are empty.
 */
export interface LogBatchView {
  readonly type: 'LINES' | 'ENDED' | 'FAILED';
  readonly cluster: ClusterView;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly lines: readonly LogLineView[];
  /** Lines lost before these, as the reader was too slow. */
  readonly dropped: number;
  /** With `FAILED` only. */
  readonly fault?: Fault;
}

/**
 * Logs of containers over all clusters. Each needs `get` on `pods/log`; what one container cannot give is a fault beside the others.
 *
 * @throws {MusterError} `BAD_INPUT` for arguments that cannot be served; more than 20 containers to read are `TOO_COSTLY`, telling how many match.
 */
export interface Logs {
  /**
   * By cluster, namespace, Pod, then as the containers stand in the Pod: init containers first, ephemeral ones last. Waits for first lists at most
   * 10 s, then at most 10 s for the logs. `faults` are those of clusters whose Pods are not known, so that nobody knows what is missing.
   */
  read(context: ReadContext, selection: LogSelection, extent: LogExtent): Promise<Gathered<PodLogView>>;
  /**
   * Of one Pod: of the container named, else of its default container as kubectl chooses it. Asked at most once per operation, of at most 20
   * Pods: more are `TOO_COSTLY`.
   */
  readOfPod(context: ReadContext, row: Row, extent: LogExtent & { readonly container?: string | null | undefined }): Promise<PodLogView>;
  /** Follows them, and those of Pods that appear later. */
  follow(context: ReadContext, selection: LogSelection, extent: LogExtent): StreamSource<LogBatchView>;
}
