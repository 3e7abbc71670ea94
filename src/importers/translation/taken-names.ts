import type { Json } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import type { PropagationName } from '../../propagate/model/propagations.ts';
import type { ImportedPropagation, ImportNote, ImportResult } from '../model/import-result.ts';

/**
 * Adds the note `NAME_TAKEN` to each imported Propagation whose name an existing Propagation of another origin has. To propagate it would
 * replace that Propagation and delete its copies. An existing Propagation of the same system, cluster and resource is not of another origin.
 */
export function withTakenNames(result: ImportResult, find: (name: PropagationName) => Propagation | undefined): ImportResult {
  const propagations = result.propagations.map((imported) => {
    const existing = find({ namespace: textAt(imported.input, 'namespace') ?? '', name: textAt(imported.input, 'name') ?? '' });
    const note = existing && noteOfTakenName(existing, imported);
    return note === undefined ? imported : { ...imported, notes: [...imported.notes, note] };
  });
  return { ...result, propagations };
}

function noteOfTakenName({ metadata, document }: Propagation, { input }: ImportedPropagation): ImportNote | undefined {
  const [theirs, ours] = [originOf(document), originOf(input)];
  if (theirs !== undefined && theirs.id === ours?.id) return undefined;
  const other = theirs === undefined ? 'was not imported' : `was imported from ${theirs.text}, not from ${ours?.text}`;
  const message =
    `Propagation ${metadata.namespace}/${metadata.name} exists and ${other}: to propagate this one would replace it and delete its copies. ` +
    'Delete the existing one with deletion policy ORPHAN, or print this one with -o yaml and give it another name';
  return { severity: 'ERROR', code: 'NAME_TAKEN', message };
}

/** Returns the origin in `source` of a spec or an input: the system, the cluster and the resource. Undefined without a source. */
function originOf(spec: Json): { readonly id: string; readonly text: string } | undefined {
  const source = valueAt(spec, 'source');
  const system = textAt(source, 'system');
  if (system === undefined) return undefined;
  const cluster = textAt(source, 'cluster');
  const template = listAt(source, 'objects').find((object) => textAt(object, 'role') === 'Template');
  const kind = textAt(template, 'kind') ?? '';
  const place = `${textAt(template, 'namespace') ?? 'default'}/${textAt(template, 'name')}`;
  // A later import may read the resource in another version.
  const group = groupOfApiVersion(textAt(template, 'apiVersion') ?? '');
  const from = cluster === undefined ? 'of a text' : `of cluster ${cluster}`;
  return { id: JSON.stringify([system, cluster ?? null, group, kind, place]), text: `${system} ${kind} ${place} ${from}` };
}
