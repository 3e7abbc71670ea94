import { textAt, valueAt } from '../../core/json-at.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import type { PropagationName } from '../../propagate/model/propagations.ts';
import { takenNameProblem } from '../../propagate/model/taken-name.ts';
import type { ImportedPropagation, ImportNote, ImportResult } from '../model/import-result.ts';
import { isOwnedByName } from '../multi-cluster-resource/resource-owners.ts';

/** The Propagations on the hub. */
export interface ExistingPropagations {
  readonly find: (name: PropagationName) => Propagation | undefined;
  /** The cluster whose MultiClusterResources the leader keeps in sync. Undefined: the leader keeps none. */
  readonly keptFrom: string | undefined;
}

/**
 * Adds the error note `NAME_TAKEN` to each imported Propagation that must not replace the existing one of its name. Leaves out those that
 * the leader already keeps in sync with their MultiClusterResource, with the note `KEPT_IN_SYNC`.
 */
export function withTakenNames(result: ImportResult, existing: ExistingPropagations): ImportResult {
  const propagations: ImportedPropagation[] = [];
  const kept: ImportedPropagation[] = [];
  for (const imported of result.propagations) {
    const { input, notes } = imported;
    const found = existing.find({ namespace: textAt(input, 'namespace') ?? '', name: textAt(input, 'name') ?? '' });
    if (found !== undefined && isSyncedByLeader(imported, found, existing)) {
      kept.push(imported);
      continue;
    }
    const message = found && takenNameProblem(found, valueAt(input, 'source'));
    propagations.push(
      message === undefined ? imported : { ...imported, notes: [...notes, { severity: 'ERROR', code: 'NAME_TAKEN', message }] },
    );
  }
  const unread = [...result.unread, ...kept.flatMap(({ documents }) => documents)].toSorted((a, b) => a.index - b.index);
  return { ...result, propagations, unread, notes: [...result.notes, ...kept.map(noteOfKept)] };
}

/** True if the leader keeps the existing Propagation in sync with the resource that the imported one was made from. */
function isSyncedByLeader({ system, input }: ImportedPropagation, found: Propagation, { keptFrom }: ExistingPropagations): boolean {
  const isLiving = keptFrom !== undefined && textAt(input, 'source', 'cluster') === keptFrom;
  return isLiving && system === 'MultiClusterResource' && isOwnedByName(found);
}

function noteOfKept({ input, documents }: ImportedPropagation): ImportNote {
  const name = `${textAt(input, 'namespace')}/${textAt(input, 'name')}`;
  const message =
    `the gateway keeps Propagation ${name} in sync with this MultiClusterResource, because its config file names importers: ` +
    'there is nothing to import';
  return { severity: 'INFO', code: 'KEPT_IN_SYNC', message, path: `[${documents[0]?.index ?? 0}]` };
}
