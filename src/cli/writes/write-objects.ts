import type { JsonObject } from '../../core/json.ts';
import { type GatewayClient, type MutationInputs, mutate } from '../client/gateway-client.ts';
import type { Session } from '../client/session.ts';
import type { DryRunFlags } from './write-options.ts';
import {
  type ObjectWriteResult,
  printClientRun,
  printResults,
  type ResultFormat,
  type ResultOptions,
  type TargetObject,
  writeResultFields,
} from './write-results.ts';

/** Most writes that a gateway takes in one mutation. */
const maxWrites = 1_000;

/** What a request's body may hold beside a manifest that is as large as an object can be. */
const maxBytes = 3 << 20;

/** One mutation of objects, repeated over parts of a list that a single request could not hold. */
export interface ListMutation {
  /** `delete`. */
  readonly field: string;
  /** The argument that takes the list, and its type. */
  readonly list: { readonly name: string; readonly type: string; readonly items: readonly JsonObject[] };
  /** How many writes each item stands for. */
  readonly writesPerItem: number;
  /** The other arguments. */
  readonly rest: MutationInputs;
  readonly output: ResultFormat | undefined;
}

/** Sends it, part after part; all results in order. A part that is refused ends it: those before it were done. */
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

/** The flags of commands that write single objects. */
export interface WriteFlags extends DryRunFlags {
  readonly output?: ResultFormat;
}

/** One mutation of objects, and how its results are told. */
export interface ObjectMutation extends Omit<ListMutation, 'output'>, Pick<ResultOptions, 'configured' | 'absence'> {
  /** The objects that a client-side dry run shows. */
  readonly objects: readonly TargetObject[];
  /** What a client-side dry run says of each: `applied`. */
  readonly word: string;
}

/** Sends it, or only shows it, as the flags say; tells the results. @returns The exit code. */
export async function runObjectMutation(session: Session, writes: ObjectMutation, { dryRun, output }: WriteFlags): Promise<number> {
  if (dryRun === 'client') return printClientRun(session, writes.objects, { output, word: writes.word });
  const isDry = dryRun === 'server';
  const rest = { ...writes.rest, dryRun: { type: 'Boolean', value: isDry } };
  const results = await sendListMutation(session.gateway, { ...writes, rest, output });
  return printResults(session, results, { ...writes, output, isDry });
}

/** In order, each of at most so many and so large; what is too large alone stands alone. */
function partsOf(items: readonly JsonObject[], most: number): readonly (readonly JsonObject[])[] {
  const parts: JsonObject[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item));
    const last = parts.at(-1);
    if (last === undefined || last.length >= most || bytes + size > maxBytes) {
      parts.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return parts;
}
