import { MusterError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { kindTextOf } from '../../manifests/pod-specs.ts';
import { portableOf } from '../../manifests/portable-object.ts';
import { withMemberFields } from '../plan/copies/manifest-for-write.ts';

/**
 * Returns the manifest of the Work (`pruned`), and the object that replaces the observed one (`sent`).
 *
 * @throws {MusterError} `BAD_INPUT` if the fields to retain cannot be retained like in Karmada.
 */
export function prepareReplace({ desired, observed }: { readonly desired: JsonObject; readonly observed: JsonObject }): {
  readonly pruned: JsonObject;
  readonly sent: JsonObject;
} {
  const pruned = portableOf(desired);
  const outcome = withMemberFields(pruned, observed, { kind: kindTextOf(desired), prefix: 'resourcetemplate.karmada.io' });
  if (outcome.result === 'failed') throw new MusterError('BAD_INPUT', `${outcome.path}: ${outcome.message}`);
  return { pruned, sent: outcome.object };
}
