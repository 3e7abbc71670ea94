import { MusterError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { retain } from '../rendering/own.ts';
import { groupKindOf } from '../rendering/pod-specs.ts';
import { prune } from '../rendering/prune.ts';

/**
 * What goes into the Work, and what is then put in place of the observed object.
 *
 * @throws {MusterError} `BAD_INPUT` where nothing can be kept as Karmada keeps it.
 */
export function prepareReplace({ desired, observed }: { readonly desired: JsonObject; readonly observed: JsonObject }): {
  readonly pruned: JsonObject;
  readonly sent: JsonObject;
} {
  const pruned = prune(desired);
  const outcome = retain(pruned, observed, { kind: groupKindOf(desired), prefix: 'resourcetemplate.karmada.io' });
  if (outcome.result === 'failed') throw new MusterError('BAD_INPUT', `${outcome.path}: ${outcome.message}`);
  return { pruned, sent: outcome.object };
}
