import type { Fault } from '../core/faults.ts';
import type { ClusterView, ReadContext, Row } from './reads.ts';
import type { StreamSource } from './streams.ts';

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

/** How much of each log. */
export interface LogExtent {
  /** Of the container's run before this one. */
  readonly previous?: boolean | null | undefined;
  readonly sinceSeconds?: number | null | undefined;
  /** RFC 3339. */
  readonly sinceTime?: string | null | undefined;
  readonly tailLines?: number | null | undefined;
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
  readonly fault?: Fault;
}

/** One message of a followed log: of one container. Equal to the schema's `LogBatch`. */
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
 * @throws {MusterError} `BAD_INPUT` for arguments that cannot be served; more than 20 containers are `TOO_COSTLY`, telling how many match.
 */
export interface Logs {
  /** By cluster, namespace, Pod, then as the containers stand in the Pod. */
  read(context: ReadContext, selection: LogSelection, extent: LogExtent): Promise<readonly PodLogView[]>;
  /** Of one Pod: of the container named, else of its default container as kubectl chooses it. Asked at most once per operation. */
  readOfPod(context: ReadContext, row: Row, extent: LogExtent & { readonly container?: string | null | undefined }): Promise<PodLogView>;
  /** Follows them, and those of Pods that appear later. */
  follow(context: ReadContext, selection: LogSelection, extent: LogExtent): StreamSource<LogBatchView>;
}
