import type { Fault } from '../../core/faults.ts';
import type { ClusterView, Row } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import { ObjectMessage } from '../object-message.ts';
import type { ChangesMessage, ChangeType, JobStatusMessage, JobSummaryView } from './changes-message.ts';
import type { ObjectChange } from './changes-queue.ts';
import { type MessageDraft, splitDraft } from './message-drafts.ts';

/** The inputs of a `MessageMaker` that come from the view, in addition to the draft. */
interface MessageInputs {
  /** True for the first messages of a reader: its first state, or what it missed before a resume. False for later messages. */
  readonly isOpening: boolean;
  /** Returns the sealed cursor of a reader that has received the message of this draft. Called once, when the cursor is first read. */
  readonly seal: (draft: MessageDraft) => string;
  /** Makes the summary of all Jobs. Called once, when the summary is first read. */
  readonly summarize: () => JobSummaryView;
}

/** Makes a message of a draft. Each kind of stream has its own maker. */
export type MessageMaker<Message extends ChangesMessage> = (draft: MessageDraft, inputs: MessageInputs) => Message;

/** Makes a message of a stream of changes. The rows are made when the resolvers of `added`, `modified` and `deleted` read them. */
export const changesMessage: MessageMaker<ChangesMessage> = (draft, inputs) => new MadeMessage(draft, inputs);

/** Makes a message of `jobStatus`. */
export const jobStatusMessage: MessageMaker<JobStatusMessage> = (draft, inputs) => new MadeJobStatusMessage(draft, inputs);

type Rows = Readonly<Record<ObjectChange['type'], readonly Row[]>>;

class MadeMessage extends ObjectMessage<ChangesMessage> implements ChangesMessage {
  readonly type: ChangeType;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  declare readonly fault?: Fault;
  readonly #draft: MessageDraft;
  readonly #inputs: MessageInputs;
  #rows: Rows | undefined;
  #cursor: string | undefined;

  constructor(draft: MessageDraft, inputs: MessageInputs) {
    super();
    const { source, type, fault } = draft;
    this.type = type;
    this.cluster = source.cluster;
    this.kind = source.kind;
    if (fault !== undefined) this.fault = fault;
    this.#draft = draft;
    this.#inputs = inputs;
  }

  get objectCount(): number {
    return this.#draft.changes.length;
  }

  get added(): readonly Row[] {
    return this.#allRows.ADDED;
  }

  get modified(): readonly Row[] {
    return this.#allRows.MODIFIED;
  }

  get deleted(): readonly Row[] {
    return this.#allRows.DELETED;
  }

  get cursor(): string {
    this.#cursor ??= this.#inputs.seal(this.#draft);
    return this.#cursor;
  }

  split(max: number): readonly ChangesMessage[] {
    return splitDraft(this.#draft, max).map((draft) => this.remade(draft, this.#inputs));
  }

  renew(): ChangesMessage | undefined {
    if (!this.#inputs.isOpening) return undefined;
    this.#draft.source.refreshCluster();
    return this.remade(this.#draft, this.#inputs);
  }

  protected remade(draft: MessageDraft, inputs: MessageInputs): MadeMessage {
    return new MadeMessage(draft, inputs);
  }

  get #allRows(): Rows {
    this.#rows ??= rowsOf(this.#draft.source.rowMaker(), this.#draft.changes);
    return this.#rows;
  }
}

class MadeJobStatusMessage extends MadeMessage implements JobStatusMessage {
  readonly #summarize: () => JobSummaryView;
  #summary: JobSummaryView | undefined;

  constructor(draft: MessageDraft, inputs: MessageInputs) {
    super(draft, inputs);
    this.#summarize = inputs.summarize;
  }

  get summary(): JobSummaryView {
    this.#summary ??= this.#summarize();
    return this.#summary;
  }

  protected override remade(draft: MessageDraft, inputs: MessageInputs): MadeJobStatusMessage {
    return new MadeJobStatusMessage(draft, inputs);
  }
}

function rowsOf(rowOf: (change: ObjectChange) => Row, changes: readonly ObjectChange[]): Rows {
  const rows: Record<ObjectChange['type'], Row[]> = { ADDED: [], MODIFIED: [], DELETED: [] };
  for (const change of changes) rows[change.type].push(rowOf(change));
  return rows;
}
