import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { objectAt, textAt, valueAt } from '../../core/json-at.ts';
import { isSecret } from '../../core/redaction.ts';
import { withoutMembers } from '../../manifests/json-edits.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import type { PatchedTemplate } from '../api-versions/converted-patch.ts';
import { type ConversionOptions, currentObjectOf } from '../api-versions/current-api.ts';
import { holdsSecret } from '../documents/holds-secret.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';
import { errorNote, secretNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { fieldPath } from '../model/unknown-fields.ts';
import type { TargetKind } from './target-kinds.ts';

/** The template of a federated object as a manifest, or why it cannot be imported. */
export type FederatedTemplate =
  | ({ readonly result: 'read'; readonly notes: readonly ImportNote[] } & PatchedTemplate)
  | { readonly result: 'refused'; readonly note: ImportNote };

/**
 * Makes the manifest that KubeFed writes before it applies overrides: the template with the kind of the target, and with the name and the
 * namespace of the federated object. The version of the target applies if the template has none. An absent template is an empty one.
 *
 * A version that clusters no longer serve is converted (`currentObjectOf`). KubeFed drops annotations and finalizers of a template, and takes
 * names and kinds from elsewhere. Each dropped value has a note.
 */
export function federatedTemplateOf({ object, path, key }: ObjectDocument, target: TargetKind): FederatedTemplate {
  const at = `${path}.spec.template`;
  if (isSecret(groupKindOfKey({ apiVersion: target.apiVersion ?? '', kind: target.kind })) || holdsSecret(object)) {
    return { result: 'refused', note: secretNote(at) };
  }
  const template = valueAt(object, 'spec', 'template') ?? {};
  if (!isJsonObject(template)) return { result: 'refused', note: errorNote('INVALID', at, 'expected an object') };
  const apiVersion = textAt(template, 'apiVersion') || target.apiVersion;
  if (apiVersion === undefined) {
    const message = `expected the apiVersion of ${target.kind}, or a FederatedTypeConfig of ${key.kind} next to the object, got none`;
    return { result: 'refused', note: errorNote('INVALID', `${at}.apiVersion`, message) };
  }
  const identity = { name: key.name, ...(target.isNamespaced && key.namespace !== undefined ? { namespace: key.namespace } : {}) };
  const metadata = { ...withoutMembers(objectAt(template, 'metadata'), droppedMetadata), ...identity };
  const written = { apiVersion, kind: target.kind, metadata, ...withoutMembers(template, identityMembers) };
  const { object: current, notes: converted } = currentObjectOf(written, at, conversion);
  const replaced = replacedNotes(template, { kind: target.kind, identity, at });
  return { result: 'read', written, current, ...conversion, notes: [...converted, ...droppedNotes(template, at), ...replaced] };
}

/** KubeFed adds the label `kubefed.io/managed` after the overrides. */
const conversion: ConversionOptions = { addsLabel: true };

const identityMembers = ['apiVersion', 'kind', 'metadata'];
const droppedMetadata = ['annotations', 'finalizers', 'name', 'namespace', 'generateName'];

function droppedNotes(template: JsonObject, at: string): readonly ImportNote[] {
  return ['annotations', 'finalizers']
    .filter((field) => !isEmpty(valueAt(template, 'metadata', field)))
    .map((field) => {
      const message = `KubeFed does not copy ${field} of a template, so the Propagation has none; an override can set them`;
      return warningNote('DROPPED', `${at}.metadata.${field}`, message);
    });
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || Object.keys(value).length === 0;
}

interface Replacement {
  readonly kind: string;
  readonly identity: { readonly name: string; readonly namespace?: string };
  readonly at: string;
}

function replacedNotes(template: JsonObject, { kind, identity, at }: Replacement): readonly ImportNote[] {
  const replaced: readonly (readonly [readonly string[], string | undefined])[] = [
    [['kind'], kind],
    [['metadata', 'name'], identity.name],
    [['metadata', 'namespace'], identity.namespace],
  ];
  return replaced.flatMap(([keys, wanted]) => {
    const written = textAt(template, ...keys);
    if (written === undefined || written === '' || written === wanted) return [];
    const message = `KubeFed takes this value from the federated object (${wanted ?? 'none'}), so ${JSON.stringify(written)} has no effect`;
    return [warningNote('DROPPED', keys.reduce(fieldPath, at), message)];
  });
}
