import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { OwnRights } from '../../access/rights/own-rights.ts';
import type { ObjectChanges } from '../../changes/object-changes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Imports } from '../../importers/model/imports.ts';
import type { Logs } from '../../load/logs/logs.ts';
import type { FoundObject, ReadContext, Reads, Row } from '../../load/reads/reads.ts';
import type { Relations } from '../../load/relations/relations.ts';
import type { Migrations } from '../../migrate/model/migrations.ts';
import type { Propagations } from '../../propagate/model/propagations.ts';
import type { Streams } from '../../streams/messages/streams.ts';
import type { Budget } from './budget.ts';

/** The state of the gateway, for `Query.gateway`. */
export interface GatewayView {
  readonly version: string;
  /** True if the clusters are the embedded fleet. */
  readonly demo: boolean;
  /** True if the gateway refuses every mutation. */
  readonly readOnly: boolean;
  /** A hash of the printed schema that the operation runs on. Equal for equal schemas in all gateways. */
  readonly schemaHash: string;
  /** The time at which the schema was built, in Unix milliseconds. */
  readonly schemaBuiltAtMs: number;
  /** The reason why a group of kinds is missing, or why the newest schema is not in use. Undefined if neither is the case. */
  readonly schemaProblem?: string | undefined;
  /** The reason why no gateway has kept Propagations in sync for more than 30 s. Undefined if a gateway does, and without a hub. */
  readonly controllerProblem?: string | undefined;
}

/** The context of all resolvers. Created once per operation. A subscription has one for its root field, and one for each message. */
export interface GraphContext {
  readonly reads: Reads;
  readonly streams: Streams;
  /** Created for this operation alone. */
  readonly relations: Relations;
  readonly logs: Logs;
  readonly writes: ObjectChanges;
  readonly propagations: Propagations;
  readonly migrations: Migrations;
  readonly imports: Imports;
  readonly rights: OwnRights;
  readonly read: ReadContext;
  readonly gateway: GatewayView;
  /** The clock for ages, which are computed when they are read. */
  readonly clock: Pick<Clock, 'now'>;
  /** Limits the objects that the answer may contain, and the objects that may be read for it. */
  readonly budget: Budget;
}

/** Returns the row. If there is none, reports the faults that may be the reason for the null. */
export function rowOrFaults({ row, faults }: FoundObject, { read }: GraphContext, { path }: GraphQLResolveInfo): Row | undefined {
  if (row === undefined) for (const fault of faults) read.reportFault(fault, responsePathAsArray(path));
  return row;
}
