import type { JsonObject } from '../../core/json.ts';
import { exitCodes } from '../client/command-failure.ts';
import { type GatewayClient, type MutationInputs, mutate } from '../client/gateway-client.ts';
import type { Session } from '../client/session.ts';
import { confirmWrites } from './confirm-writes.ts';
import type { ConsentFlags, DryRunFlags } from './write-options.ts';
import {
  type ObjectWriteResult,
  printClientRun,
  printResults,
  type ResultFormat,
  type ResultOptions,
  type TargetObject,
  writeResultFields,
} from './write-results.ts';

/** The largest number of writes in one mutation. */
const maxWrites = 1_000;

/** Maximum bytes of manifests in one mutation. A larger manifest is sent alone. */
const maxBytes = 3 << 20;

/** A mutation over a list of objects. Long lists are sent in parts. */
export interface ListMutation {
  /** Name of the field: `delete`. */
  readonly field: string;
  /** The argument that takes the list, and its type. */
  readonly list: { readonly name: string; readonly type: string; readonly items: readonly JsonObject[] };
  /** Number of writes for each item of the list. */
  readonly writesPerItem: number;
  /** The other arguments. */
  readonly rest: MutationInputs;
  readonly output: ResultFormat | undefined;
}

/**
 * Sends a mutation over a list in parts, one after the other. Each part has at most 1,000 writes and 3 MiB. Returns all results in order.
 *
 * @throws {CommandFailure} for the first part that the gateway refuses. The writes of earlier parts stay.
 */
export async function sendListMutation(
  gateway: GatewayClient,
  { field, list, writesPerItem, rest, output }: ListMutation,
): Promise<readonly ObjectWriteResult[]> {
  const selection = writeResultFields(output);
  const results: ObjectWriteResult[] = [];
  for (const items of partsOf(list.items, Math.max(1, Math.floor(maxWrites / Math.max(1, writesPerItem))))) {
    const inputs = { ...rest, [list.name]: { type: list.type, value: items } };
    const outcome = await mutate<{ readonly results: readonly ObjectWriteResult[] }>(gateway, { field, inputs, selection });
    results.push(...outcome.results);
  }
  return results;
}

/** The flags of commands that write objects. */
export interface WriteFlags extends DryRunFlags, ConsentFlags {
  readonly output?: ResultFormat;
}

/** A mutation of objects, and how its results are printed. */
export interface ObjectMutation extends Omit<ListMutation, 'output'>, Pick<ResultOptions, 'configured' | 'unchanged' | 'absence'> {
  /** The objects that a client-side dry run prints. */
  readonly objects: readonly TargetObject[];
  /** Word that a client-side dry run prints for each object: `applied`. */
  readonly word: string;
  /** The verb in the question before the write. Default: the name of the field. */
  readonly action?: string | undefined;
}

/**
 * Sends the mutation and prints the results. Asks the person at the terminal first if it writes to more than one cluster (`confirmWrites`). A
 * client-side dry run sends nothing and prints the objects. Without objects, does nothing.
 *
 * @returns The exit code.
 * @throws {CommandFailure} if the person does not agree.
 */
export async function runObjectMutation(session: Session, writes: ObjectMutation, flags: WriteFlags): Promise<number> {
  const { dryRun, output } = flags;
  if (writes.list.items.length === 0) return exitCodes.good;
  await confirmWrites(session, { action: writes.action ?? writes.field, objects: writes.objects }, flags);
  if (dryRun === 'client') return printClientRun(session, writes.objects, { output, word: writes.word });
  const isDry = dryRun === 'server';
  const rest = { ...writes.rest, dryRun: { type: 'Boolean', value: isDry } };
  const results = await sendListMutation(session.gateway, { ...writes, rest, output });
  return printResults(session, results, { ...writes, output, isDry });
}

/** Splits a list into parts of bounded number and size, in order. An item above the size bound gets its own part. */
function partsOf(items: readonly JsonObject[], max: number): readonly (readonly JsonObject[])[] {
  const parts: JsonObject[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item));
    const last = parts.at(-1);
    if (last === undefined || last.length >= max || bytes + size > maxBytes) {
      parts.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return parts;
}
