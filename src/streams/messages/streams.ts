import type { InModel, ReadContext, WhereInput } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { StreamSource } from '../stream-source.ts';
import type { ChangesMessage, JobStatusMessage } from './changes-message.ts';

/** The arguments of a stream of changes, as they come from GraphQL. */
export interface StreamArguments {
  readonly clusters?: readonly string[] | null | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly labels?: string | null | undefined;
  readonly where?: WhereInput | null | undefined;
  readonly search?: string | null | undefined;
  readonly after?: string | null | undefined;
}

/**
 * The live side of reading: one view of the mirrors for all who ask the same with the same rights, whatever their number.
 *
 * Every method checks its arguments at once.
 *
 * @throws {MusterError} `BAD_INPUT`: what was expected and what came; one and the same for every cursor that is forged or of another filter.
 */
export interface Streams {
  /** One kind. */
  changes(context: ReadContext, kind: ModelKind, args: StreamArguments): StreamSource<ChangesMessage>;
  /** Several kinds, by any of their names. */
  changesOfKinds(
    context: ReadContext,
    asked: InModel & { readonly kinds: readonly string[] },
    args: StreamArguments,
  ): StreamSource<ChangesMessage>;
  /** Jobs, with a summary in each message. `kind` is that of Jobs. */
  jobStatus(context: ReadContext, kind: ModelKind, args: StreamArguments): StreamSource<JobStatusMessage>;
}
