import { MusterError } from '../../../../src/core/errors.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import { kindTextOf } from '../../../../src/manifests/pod-specs.ts';
import { portableOf } from '../../../../src/manifests/portable-object.ts';
import { withMemberFields } from '../../../../src/propagate/plan/copies/manifest-for-write.ts';

/**
 * Prepares a replacement like Karmada. Returns the manifest that Karmada stores in a Work resource (`pruned`), and the object that replaces
 * the observed one (`sent`).
 *
 * @throws {MusterError} `BAD_INPUT` if a field of `observed` that must be retained has a wrong type, or is a missing replica count.
 */
export function prepareReplace({ desired, observed }: { readonly desired: JsonObject; readonly observed: JsonObject }): {
  readonly pruned: JsonObject;
  readonly sent: JsonObject;
} {
  const pruned = portableOf(desired, { keepsSecondToken: true });
  const outcome = withMemberFields(pruned, observed, { kind: kindTextOf(desired), prefix: 'resourcetemplate.karmada.io' });
  if (outcome.result === 'failed') throw new MusterError('BAD_INPUT', `${outcome.path}: ${outcome.message}`);
  return { pruned, sent: outcome.object };
}
