import { faultCodes } from '../../core/faults.ts';
import { listSchema, structureSchema, translatedSchema } from '../../core/json/documents.ts';
import {
  anyText,
  clusterText,
  count,
  describedEnum,
  flag,
  graphqlHints,
  message,
  textEnum,
  time,
} from '../../core/json/field-definitions.ts';
import { objectKeyFields, withKey } from './object-key-definition.ts';

/** Maximum number of entries in one ClusterShare (docs/internals/propagation.md 5.3). */
export const maxEntries = 200;

/** Whether a copy is healthy. */
export const health = describedEnum('Health', 'The health of one copy, or of several copies together.', {
  Healthy: 'Every copy is healthy.',
  Unhealthy: 'At least one copy is not healthy.',
  Unknown: 'The health is unknown because a copy cannot be read.',
});

/** A fault as the hub keeps it. */
export const recordedFault = structureSchema({
  code: textEnum(faultCodes).describe('The type of the fault.'),
  message: message.describe('The description of the fault for people. It contains no values of manifests.'),
  since: time.describe('The time since which the fault lasts.'),
  count: count.exactOptional().describe('The number of times in a row that the fault occurred.'),
});

/** Whether a copy belongs to its Propagation, and whether it is being created or deleted. */
const inventoryState = describedEnum('InventoryState', 'The relation of a copy to its Propagation.', {
  Intended: 'The copy is about to be created.',
  Owned: 'The copy belongs to the Propagation. Its uid proves that.',
  Shared: 'The object belongs to another owner, and has fields of the Propagation.',
  Deleting: 'The copy is being deleted. Finalizers may delay that.',
  PendingDeletion: 'The copy will be deleted as soon as its cluster can be reached. With purge `Never`, it will be released instead.',
});

const takenOver = structureSchema({
  uid: anyText.describe('The uid of the object.'),
  as: textEnum(['Owned', 'Shared']).describe(
    'Owned: the object now belongs to the Propagation. Shared: the object still belongs to its owner.',
  ),
  revision: count.describe('The revision that took over the object. The previous values of the object are kept with that revision.'),
  values: anyText.exactOptional().describe('A hash of the previous values. Not set if none are kept, as for Secrets and shared objects.'),
});

/** One object of the inventory. */
export const entry = translatedSchema(
  structureSchema({
    ...objectKeyFields,
    state: inventoryState.describe('The relation of the copy to its Propagation.'),
    uid: anyText.exactOptional().describe('The uid of the copy. Not set before the copy is created.'),
    intent: anyText
      .exactOptional()
      .describe('A random text that the copy carries too. After a crash it distinguishes the copy from an object of the same name.'),
    appliedHash: anyText.exactOptional().describe('A hash of the manifest that was written last.'),
    observedHash: anyText
      .exactOptional()
      .describe('A hash of the written fields as the cluster stored them. A copy with another hash has drifted.'),
    appliedGeneration: count.exactOptional().describe('The generation of the Propagation that wrote the copy.'),
    action: textEnum(['Created', 'Configured', 'Unchanged', 'Deleted', 'Orphaned', 'Restored', 'Skipped', 'Failed'])
      .register(graphqlHints, { name: 'Action' })
      .exactOptional()
      .describe('The result of the last write.'),
    health: health.describe('The health of the copy.'),
    fault: recordedFault.exactOptional().describe('The fault of the last write. Not set if it succeeded.'),
    sent: anyText
      .exactOptional()
      .describe(
        'The paths of the written fields, as short hashes. If another manager changes such a field, that is drift. If a field is not among them and another manager owns it, writing it is a conflict.',
      ),
    finished: flag.exactOptional().describe('For a Job. True: it was complete or failed, and is not created again.'),
    takenOver: takenOver
      .exactOptional()
      .describe('For an object that existed before: its previous owner and values. Saved before the first write.'),
    corrections: listSchema(time, { max: 5 }).exactOptional().describe('The times of the last corrections of drift, the newest last.'),
  }),
  {
    decode(flat) {
      const [key, rest] = withKey(flat);
      return { key, ...rest };
    },
    encode: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

/** The members of a ClusterShare in addition to its metadata. */
export const shareContent = structureSchema({
  cluster: clusterText.describe('The name of the cluster in the fleet.'),
  objects: listSchema(entry, { max: maxEntries }).describe('The copies in that cluster.'),
}).describe(
  'The inventory of one Propagation in one cluster. Muster changes and deletes only objects whose uid is in it. Only the gateway writes it.',
);
