import type { Fault } from '../../core/faults.ts';
import type { Json } from '../../core/json.ts';
import { listAt, textAt } from '../../core/json-at.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { type AppPass, addressIn, awayFault, clusterOf, type MigrationSide } from './app-pass.ts';
import { withOwners } from './source-manifest.ts';

/** A manifest whose owners exist, and a message for each owner that was removed from it. */
interface OwnedManifest {
  readonly manifest: Manifest;
  readonly lost: readonly string[];
}

/**
 * Returns a manifest of the source without references to owners that do not exist any more: Kubernetes would delete an object of which no
 * owner exists. An owner with another uid is another object. A reference to an owner that may not be read is removed too. Manifests for the
 * target have no owner references.
 */
export async function withExistingOwners(
  pass: AppPass,
  side: MigrationSide,
  manifest: Manifest,
): Promise<OwnedManifest | { readonly fault: Fault }> {
  const references = listAt(manifest, 'metadata', 'ownerReferences');
  if (side === 'target' || references.length === 0) return { manifest, lost: [] };
  const found: Json[] = [];
  const lost: string[] = [];
  for (const reference of references) {
    const exists = await ownerExists(pass, manifest, reference);
    if (typeof exists !== 'boolean') return exists;
    if (exists) found.push(reference);
    else {
      const name = `${textAt(reference, 'kind') ?? ''} ${textAt(reference, 'name') ?? ''}`;
      lost.push(
        `${manifest.kind} ${manifest.metadata.name} has lost its owner ${name}, which does not exist any more in ${clusterOf(pass, side)} or may not be read there`,
      );
    }
  }
  return { manifest: withOwners(manifest, found), lost };
}

async function ownerExists(pass: AppPass, { metadata }: Manifest, reference: Json): Promise<boolean | { readonly fault: Fault }> {
  const [apiVersion = '', kind = '', name = ''] = ['apiVersion', 'kind', 'name'].map((member) => textAt(reference, member));
  const owner: ObjectKey = { apiVersion, kind, name };
  const served = pass.ports.hub.members.objects.served(clusterOf(pass, 'source'), groupKindOfKey(owner));
  if (served === 'absent') return false;
  const isNamespaced = served?.namespaced === true && metadata.namespace !== undefined;
  const address = addressIn(pass, 'source', isNamespaced ? { ...owner, namespace: metadata.namespace ?? '' } : owner);
  if ('fault' in address) return address.fault.code === 'NOT_SERVED' ? false : address;
  const client = pass.client('source');
  if (client === undefined) return { fault: awayFault(pass, 'source') };
  const answer = await client.get(address);
  switch (answer.result) {
    case 'answered':
      return answer.object.metadata.uid === textAt(reference, 'uid');
    case 'absent':
      return false;
    case 'failed':
      return answer.fault.code === 'FORBIDDEN' ? false : answer;
    case 'stopped':
      // The answer does not matter: the guarded client sends no more writes.
      return true;
    default:
      return answer satisfies never;
  }
}
