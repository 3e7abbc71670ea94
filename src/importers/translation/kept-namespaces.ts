import { listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import { warningNote } from '../model/import-notes.ts';
import type { Proposal } from '../model/importer.ts';

/**
 * Returns the proposal with the deletion policy `Orphan` and the note `NAMESPACE_KEPT`, if it propagates a Namespace. Such a Namespace stays
 * when its Propagation is deleted, because it may have other objects. Other proposals are returned unchanged.
 *
 * @param path The path of the document of the Namespace.
 */
export function withKeptNamespace(proposal: Proposal, path: string): Proposal {
  const { spec, notes } = proposal;
  const [first] = listAt(spec, 'template');
  const [json, ref] = [valueAt(first, 'json'), valueAt(first, 'ref')];
  const object = json ?? ref;
  if (textAt(object, 'kind') !== 'Namespace' || textAt(object, 'apiVersion') !== 'v1') return proposal;
  const name = (json === undefined ? textAt(ref, 'name') : textAt(json, 'metadata', 'name')) ?? '';
  const note = warningNote('NAMESPACE_KEPT', path, `deleting the Propagation leaves the namespace ${name} in the clusters`);
  return { ...proposal, spec: { ...spec, deletion: { ...objectAt(spec, 'deletion'), policy: 'Orphan' } }, notes: [note, ...notes] };
}
