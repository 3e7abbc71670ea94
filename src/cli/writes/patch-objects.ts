import type { Json } from '../../core/json.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { runObjectMutation, type WriteFlags } from './write-objects.ts';
import type { ResolvedTargets } from './write-targets.ts';

/** A patch, and how its results are printed. */
export interface ObjectPatch {
  readonly value: Json;
  readonly type: 'STRATEGIC' | 'MERGE' | 'JSON';
  /** Undefined: the object itself. */
  readonly subresource?: string | undefined;
  /** The verb in the question before the write. */
  readonly action: string;
  /** The word for an object that was changed. */
  readonly word: string;
  /** The words for an object that was not changed. */
  readonly unchanged: string;
}

/**
 * Patches objects in their clusters and prints the results.
 *
 * @returns The exit code: 1 also if a cluster that did not answer may have further objects.
 * @throws {CommandFailure} if Propagations are among the targets, because users change these by their intents only.
 */
export async function patchObjects(
  session: Session,
  { targets, objects, propagations, isPartial }: ResolvedTargets,
  { value, type, subresource, action, word, unchanged }: ObjectPatch,
  flags: WriteFlags,
): Promise<number> {
  if (propagations.length > 0)
    throw new CommandFailure(exitCodes.refused, `expected objects of clusters to ${action}, got a Propagation: change its intent`);
  const rest = {
    patch: { type: 'JSON!', value },
    type: { type: 'PatchType!', value: type },
    subresource: { type: 'String', value: subresource ?? null },
  };
  const list = { name: 'targets', type: '[Target!]!', items: targets };
  const texts = { word, configured: word, unchanged, action };
  const code = await runObjectMutation(
    session,
    { field: 'patch', list, writesPerItem: 1, rest, objects, absence: 'allowed', ...texts },
    flags,
  );
  return isPartial ? Math.max(code, exitCodes.failed) : code;
}
