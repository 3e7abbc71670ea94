import type { Fault, Gathered } from '../../core/faults.ts';
import type { StreamSource } from '../../streams/stream-source.ts';
import type { ClusterView, ReadContext, Row } from '../reads/reads.ts';

/** The selection of containers, as it comes from GraphQL. */
export interface LogSelection {
  readonly clusters?: readonly string[] | null | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly labels?: string | null | undefined;
  /** The names of the Pods. Default: all Pods. */
  readonly names?: readonly string[] | null | undefined;
  /** Default: every container of each Pod, including init and ephemeral containers. */
  readonly container?: string | null | undefined;
}

/** The extent of each log. At most one of `sinceSeconds` and `sinceTime` may be set. */
export interface LogExtent {
  /** True: the log of the previous run of the container. Default: false, the current run. */
  readonly previous?: boolean | null | undefined;
  /** Only lines that are at most this number of seconds old, by the clock of the node. At least 1. Default: any age. */
  readonly sinceSeconds?: number | null | undefined;
  /** Only lines from this time on, in RFC 3339. Default: any time. */
  readonly sinceTime?: string | null | undefined;
  /** Maximum number of lines: the last ones within the time limit. 0 to 10,000. Default: 200, or 10 when following. */
  readonly tailLines?: number | null | undefined;
  /** Maximum bytes of the log: 1 byte to 10 MiB, including times. Default: 1 MiB. All logs of one answer have at most 64 MiB. Ignored when following. */
  readonly limitBytes?: number | null | undefined;
}

export interface LogLineView {
  /** The time of the line in RFC 3339, as the kubelet wrote it. Absent if the line has no readable time. */
  readonly time?: string;
  readonly text: string;
}

/** The log of one container, or the reason why it cannot be read. */
export interface PodLogView {
  readonly cluster: ClusterView;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The lines, in the order of the log. */
  readonly lines: readonly LogLineView[];
  /** True if the log is larger than `limitBytes`, so that its end is missing. */
  readonly truncated: boolean;
  /** The reason why the log could not be read, or not to its end. `lines` came before it. Absent if there was no problem. */
  readonly fault?: Fault;
}

/**
 * One message of a followed log, about one container. Equal to `LogBatch` of the schema.
 *
 * `LINES` has new lines. `ENDED` follows the last line of a run; later lines are those of the next run. `FAILED` means that the log is not
 * followed, and `fault.retry` says whether that is final. It is sent once; later lines mean that the log is followed again.
 *
 * If the Pods of a cluster are unknown, `FAILED` is about the cluster: namespace, pod and container are empty.
 */
export interface LogBatchView {
  readonly type: 'LINES' | 'ENDED' | 'FAILED';
  readonly cluster: ClusterView;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly lines: readonly LogLineView[];
  /** The number of lines that were lost before these lines, because the reader was too slow. */
  readonly dropped: number;
  /** Set only with `FAILED`. */
  readonly fault?: Fault;
}

/**
 * The logs of containers in all clusters. Each log needs the right `get` on `pods/log`. A log that cannot be read gives a fault next to the
 * logs of other containers.
 *
 * @throws {MusterError} `BAD_INPUT` for wrong arguments. `TOO_COSTLY` if more than 20 containers match; the message has their number.
 */
export interface Logs {
  /**
   * Reads logs, ordered by cluster, namespace and Pod, then as in the Pod: init containers first, ephemeral ones last. Waits at most 10 s for
   * first lists, then at most 10 s for the logs. `faults` are those of clusters whose Pods are unknown, so that logs may be missing.
   */
  read(context: ReadContext, selection: LogSelection, extent: LogExtent): Promise<Gathered<PodLogView>>;
  /**
   * Reads the log of one Pod: of the named container, or else of the default container of kubectl. Requests each log once per operation.
   *
   * @throws {MusterError} `TOO_COSTLY` for more than 20 Pods in one operation.
   */
  readOfPod(context: ReadContext, row: Row, extent: LogExtent & { readonly container?: string | null | undefined }): Promise<PodLogView>;
  /**
   * Returns the source of a stream that follows the logs, including those of Pods that appear later. Nothing is requested before the stream
   * is opened.
   */
  follow(context: ReadContext, selection: LogSelection, extent: LogExtent): StreamSource<LogBatchView>;
}
