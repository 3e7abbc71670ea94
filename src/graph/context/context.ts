import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { ObjectChanges } from '../../changes/object-changes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logs } from '../../load/logs/logs.ts';
import type { FoundObject, ReadContext, Reads, Row } from '../../load/reads/reads.ts';
import type { Relations } from '../../load/relations/relations.ts';
import type { Propagations } from '../../propagate/model/propagations.ts';
import type { Streams } from '../../streams/messages/streams.ts';
import type { Budget } from './budget.ts';

/** What the gateway says of itself: `Query.gateway`. */
export interface GatewayView {
  readonly version: string;
  /** True if it answers from the embedded fleet. */
  readonly demo: boolean;
  /** Of the printed SDL the operation runs on: equal for equal schemas, whichever process made them. */
  readonly schemaHash: string;
  /** Milliseconds of the epoch. */
  readonly schemaBuiltAtMs: number;
  /** Why some group of kinds is missing, or the newest schema is not the one that serves. */
  readonly schemaProblem?: string | undefined;
  /** Why no gateway has kept Propagations in sync for longer than 30 s. */
  readonly controllerProblem?: string | undefined;
}

/** What every resolver gets. Made once per operation; of a subscription, once to ask its root field and once for each message. */
export interface GraphContext {
  readonly reads: Reads;
  readonly streams: Streams;
  /** Of this operation alone. */
  readonly relations: Relations;
  readonly logs: Logs;
  readonly writes: ObjectChanges;
  readonly propagations: Propagations;
  readonly read: ReadContext;
  readonly gateway: GatewayView;
  /** For ages, which are told as of the moment they are read. */
  readonly clock: Pick<Clock, 'now'>;
  /** Of the objects that the answer may hold, and may look at. */
  readonly budget: Budget;
}

/** The row, if there is one. Says why a null is one, where it does not mean absence. */
export function rowOrFaults({ row, faults }: FoundObject, { read }: GraphContext, { path }: GraphQLResolveInfo): Row | undefined {
  if (row === undefined) for (const fault of faults) read.reportFault(fault, responsePathAsArray(path));
  return row;
}
