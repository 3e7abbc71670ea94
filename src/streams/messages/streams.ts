import type { InModel, ReadContext, WhereInput } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { StreamSource } from '../stream-source.ts';
import type { ChangesMessage, JobStatusMessage } from './changes-message.ts';

/** The arguments of a stream of changes, as GraphQL passes them. */
export interface StreamArguments {
  readonly clusters?: readonly string[] | null | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly labels?: string | null | undefined;
  readonly where?: WhereInput | null | undefined;
  readonly search?: string | null | undefined;
  readonly after?: string | null | undefined;
}

/**
 * Opens streams of changes. Requests with the same filter, the same model and the same rights share one view of the mirrors.
 *
 * Every method checks its arguments before it returns. No reader starts before `StreamSource.open`.
 *
 * @throws {MusterError} `BAD_INPUT` with what was expected and what came. A forged cursor and a cursor of another filter get the same
 * message.
 */
export interface Streams {
  /** Streams the changes of one kind. */
  changes(context: ReadContext, kind: ModelKind, args: StreamArguments): StreamSource<ChangesMessage>;
  /** Streams the changes of several kinds. `kinds` may have any name of a kind that `kindByAnyName` finds. */
  changesOfKinds(
    context: ReadContext,
    asked: InModel & { readonly kinds: readonly string[] },
    args: StreamArguments,
  ): StreamSource<ChangesMessage>;
  /** Streams the changes of Jobs, with a summary in each message. `kind` must be the kind of Jobs. */
  jobStatus(context: ReadContext, kind: ModelKind, args: StreamArguments): StreamSource<JobStatusMessage>;
}
