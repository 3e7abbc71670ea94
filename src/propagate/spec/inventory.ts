import { faultCodes } from '../../core/faults.ts';
import { list, structure, translated } from '../../core/json/documents.ts';
import { anyText, choice, clusterText, count, flag, inGraph, keyFields, message, time, withKey, word } from './values.ts';

/** Maximum number of entries in one ClusterShare (docs/internals/propagation.md 5.3). */
export const maxEntries = 200;

/** Whether a copy is healthy. */
export const health = choice('Health', 'Whether something is healthy.', {
  Healthy: 'It is healthy.',
  Unhealthy: 'It is not healthy.',
  Unknown: 'It cannot be seen.',
});

/** A fault as the hub keeps it. */
export const recordedFault = structure({
  code: word(faultCodes).describe('What went wrong.'),
  message: message.describe('The same for people. Without values of manifests.'),
  since: time.describe('Since when the fault lasts.'),
  count: count.exactOptional().describe('How many times in a row it happened.'),
});

/** To whom a copy belongs, and whether it is being created or deleted. */
const inventoryState = choice('InventoryState', 'What a copy is to Muster.', {
  Intended: 'It is about to be created.',
  Owned: 'It belongs to the Propagation: its uid is the proof.',
  Shared: 'It belongs to somebody else, and has fields of the Propagation.',
  Deleting: 'It is being deleted. Finalizers of others may delay that.',
  PendingDeletion: 'It is to be deleted as soon as its cluster can be reached.',
});

const takenOver = structure({
  uid: anyText.describe('The uid of the object.'),
  as: word(['Owned', 'Shared']).describe('Owned: it was taken into the inventory. Shared: it still belongs to its owner.'),
  revision: count.describe('The revision that took it over. What the object held before is kept with that revision.'),
  values: anyText.exactOptional().describe('A hash of what it held before. Absent: nothing is kept, as for Secrets and shared objects.'),
});

/** One object of the inventory. */
export const entry = translated(
  structure({
    ...keyFields,
    state: inventoryState.describe('What the copy is to Muster.'),
    uid: anyText.exactOptional().describe('The uid of the copy. Absent before it is created.'),
    intent: anyText
      .exactOptional()
      .describe('A random text that the copy carries too. After a crash it distinguishes the copy from an object of the same name.'),
    appliedHash: anyText.exactOptional().describe('A hash of the manifest that was written last.'),
    observedHash: anyText
      .exactOptional()
      .describe('A hash of what the cluster made of the written fields. A copy with another hash has drifted.'),
    appliedGeneration: count.exactOptional().describe('The generation of the Propagation that wrote the copy.'),
    action: word(['Created', 'Configured', 'Unchanged', 'Deleted', 'Orphaned', 'Restored', 'Skipped', 'Failed'])
      .register(inGraph, { name: 'Action' })
      .exactOptional()
      .describe('What the last write did.'),
    health: health.describe('The health of the copy.'),
    fault: recordedFault.exactOptional().describe('What the cluster could not do.'),
    sent: anyText
      .exactOptional()
      .describe(
        'The written fields, as short hashes of their paths. A change of such a field by others is drift, of another field a conflict.',
      ),
    finished: flag.exactOptional().describe('For a Job. True: it was complete or failed, and is not created again.'),
    takenOver: takenOver.exactOptional().describe('For an object that existed before: whose it was. Saved before the first write.'),
    corrections: list(time, { max: 5 }).exactOptional().describe('The times of the last corrections of drift, the newest last.'),
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
export const shareContent = structure({
  cluster: clusterText.describe('The name of the cluster in the fleet.'),
  objects: list(entry, { max: maxEntries }).describe('The copies in that cluster.'),
}).describe(
  'The inventory of one Propagation in one cluster. Only objects whose uid it holds are changed or deleted. Written by the gateway alone.',
);
