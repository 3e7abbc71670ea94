import type { Fault } from '../../core/faults.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ClusterView, Row } from '../reads.ts';
import type { ObjectChange } from './changes-queue.ts';
import type { Draft } from './stream-draft.ts';
import type { ChangesMessage, ChangeType, JobStatusMessage, JobSummaryView } from './streams.ts';

/** What a message has from the view that made it. */
export interface Circumstances {
  /** Seals the cursor: asked once, when it is first read. */
  readonly seal: () => string;
  /** Sums up the Jobs: asked once, when it is first read. */
  readonly summarize: () => JobSummaryView;
}

/** How a view makes its messages. */
export type MessageMaker<Message extends ChangesMessage> = (draft: Draft, circumstances: Circumstances) => Message;

/** A message of a stream of changes. */
export const changesMessage: MessageMaker<ChangesMessage> = (draft, circumstances) => new MadeMessage(draft, circumstances);

/** A message of `jobStatus`. */
export const jobStatusMessage: MessageMaker<JobStatusMessage> = (draft, circumstances) => new MadeJobStatusMessage(draft, circumstances);

class MadeMessage implements ChangesMessage {
  readonly type: ChangeType;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  declare readonly fault?: Fault;
  readonly added: readonly Row[];
  readonly modified: readonly Row[];
  readonly deleted: readonly Row[];
  readonly #seal: () => string;
  #cursor: string | undefined;

  constructor({ source, type, changes, fault }: Draft, { seal }: Circumstances) {
    this.type = type;
    this.cluster = source.cluster;
    this.kind = source.kind;
    if (fault !== undefined) this.fault = fault;
    const rows = rowsOf(source.rowMaker(), changes);
    this.added = rows.ADDED;
    this.modified = rows.MODIFIED;
    this.deleted = rows.DELETED;
    this.#seal = seal;
  }

  get cursor(): string {
    this.#cursor ??= this.#seal();
    return this.#cursor;
  }
}

class MadeJobStatusMessage extends MadeMessage implements JobStatusMessage {
  readonly #summarize: () => JobSummaryView;
  #summary: JobSummaryView | undefined;

  constructor(draft: Draft, circumstances: Circumstances) {
    super(draft, circumstances);
    this.#summarize = circumstances.summarize;
  }

  get summary(): JobSummaryView {
    this.#summary ??= this.#summarize();
    return this.#summary;
  }
}

function rowsOf(
  rowOf: (change: ObjectChange) => Row,
  changes: readonly ObjectChange[],
): Readonly<Record<ObjectChange['type'], readonly Row[]>> {
  const rows: Record<ObjectChange['type'], Row[]> = { ADDED: [], MODIFIED: [], DELETED: [] };
  for (const change of changes) rows[change.type].push(rowOf(change));
  return rows;
}
