import { textAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';
import { warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { fieldPath } from '../model/unknown-fields.ts';
import type { KarmadaResource } from './claims.ts';
import { describeDocument } from './policies/read-policies.ts';

/** The label with which Karmada's admission refuses the deletion of an object. Its only value with an effect is `Always`. */
const protectionLabel = 'resourcetemplate.karmada.io/deletion-protected';

/**
 * Returns a warning for each thing that Karmada does with these objects and Muster does not do. Muster only copies them.
 *
 * @param autoscalers The autoscalers of Karmada, by the key (`textOfKey`) of the workload that they scale over all clusters.
 */
export function notesOfLostBehaviour(
  objects: readonly KarmadaResource[],
  autoscalers: ReadonlyMap<string, readonly ObjectDocument[]>,
): readonly ImportNote[] {
  return objects.flatMap(({ manifest, document }) => {
    const name = describeDocument(document);
    const ofWorkload = autoscalers.get(textOfKey(keyOfManifest(manifest))) ?? [];
    const isProtected = textAt(manifest, 'metadata', 'labels', protectionLabel) === 'Always';
    return [
      ...(isServiceExchange(document)
        ? [
            warningNote(
              'UNSUPPORTED',
              document.path,
              `Karmada makes the endpoints of the Service reachable from other clusters by ${name}. Muster only copies the object: a service mesh or a load balancer must do the rest`,
            ),
          ]
        : []),
      ...(isProtected
        ? [
            warningNote(
              'UNSUPPORTED',
              fieldPath(`${document.path}.metadata.labels`, protectionLabel),
              `Karmada refuses to delete ${name}. Muster deletes its copies with the Propagation: set deletion.policy to Orphan to keep them`,
            ),
          ]
        : []),
      ...ofWorkload.map((autoscaler) =>
        warningNote(
          'UNSUPPORTED',
          autoscaler.path,
          `${describeDocument(autoscaler)} scales ${name} over all clusters, and Muster does not: the number of replicas stays that of the template`,
        ),
      ),
    ];
  });
}

/** True for the kinds by which Karmada makes the endpoints of a Service reachable from other clusters. */
function isServiceExchange({ key: { apiVersion, kind } }: ObjectDocument): boolean {
  return groupOfApiVersion(apiVersion) === 'multicluster.x-k8s.io' && (kind === 'ServiceExport' || kind === 'ServiceImport');
}
