import { isJsonObject, type Json } from '../../../core/json.ts';
import type { JsonPatchOperation } from '../../../manifests/json-patch-definition.ts';
import { parsePointer, printPointer, valueAtKeys } from '../../../manifests/json-pointer.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { containersIn } from '../../../manifests/pod-specs.ts';
import { withPositiveIndexes } from '../../kubefed/kubefed-patch.ts';
import type { FieldOverride, ImageOverride, ListOverride } from '../../model/spec.ts';
import { type FieldEdit, type ItemEdits, textToEdit, withEdits } from '../overrides/edits.ts';
import { parseImageReference, printImageReference } from '../overrides/image-reference.ts';
import { overrideField } from '../overrides/override-fields.ts';
import { overrideImage } from '../overrides/override-image.ts';
import { overrideList } from '../overrides/override-list.ts';
import type { OverrideRules } from '../overrides/override-rules.ts';

/**
 * The rules by which the items of an override have the effect of Karmada's overriders (docs/internals/propagation.md 3.5):
 *
 * - Commands, arguments and images without `path` change in the main containers of `podKinds` only. Other kinds are ignored without a
 *   warning.
 * - An image with a tag loses its digest.
 * - `Replace` of a command or of arguments keeps the list. If there is none, an empty list appears.
 * - A container without an image is an error.
 * - A `field` item whose patch has no operations replaces the text at its path with an empty text.
 * - Patches have the leniency of json-patch 5.
 */
export const karmadaOverrideRules: OverrideRules = {
  image: imageEdits,
  list: listEdits,
  field: fieldEdits,
  adaptPatch: asKarmadaOperation,
};

/** The kinds whose containers Karmada changes. */
const podKinds: ReadonlySet<string> = new Set(['Pod', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job']);

/**
 * Returns an edit for every image. If the item's value gives no valid image, the edit writes the present image back, without a digest
 * beside its tag.
 */
function imageEdits(object: Manifest, item: ImageOverride): ItemEdits {
  const edits: FieldEdit[] = [];
  for (const path of item.path === undefined ? imagePathsOf(object, item) : [item.path]) {
    const edited = imageEdit(object, item, path);
    if (edited.result === 'failed') return edited;
    edits.push(...edited.edits);
  }
  return { result: 'edits', edits, warnings: [] };
}

/** Returns the paths of the images of all containers. A container without an image fails later, as in Karmada. */
function imagePathsOf(object: Manifest, { containers }: ImageOverride): readonly string[] {
  if (!podKinds.has(object.kind)) return [];
  return containersIn(object, 'Main')
    .filter(({ name }) => containers === undefined || (name !== undefined && containers.includes(name)))
    .map(({ path }) => printPointer([...path, 'image']));
}

function imageEdit(object: Manifest, { containers: _containers, ...item }: ImageOverride, pointer: string): ItemEdits {
  const found = textToEdit(object, pointer);
  if (found.result === 'failed') return found;
  const read: FieldEdit = { path: found.path, value: withoutDigestBesideTag(found.text), replaces: true };
  const edits = overrideImage(withEdits(object, [read]), { ...item, path: pointer });
  if (edits.result === 'failed') return edits;
  const [edit = read] = edits.edits;
  return { ...edits, edits: [edit] };
}

/** Karmada reads no digest of an image that has a tag too. */
function withoutDigestBesideTag(image: string): string {
  const reference = parseImageReference(image);
  if (reference?.tag === undefined || reference.digest === undefined) return image;
  const { digest: _digest, ...tagged } = reference;
  return printImageReference(tagged);
}

function listEdits(object: Manifest, field: 'command' | 'args', item: ListOverride): ItemEdits {
  if (!podKinds.has(object.kind)) return { result: 'edits', edits: [], warnings: [] };
  const edits = overrideList(object, field, item.operator === 'Replace' ? { ...item, operator: 'Add', values: [] } : item);
  return edits.result === 'failed' ? edits : { ...edits, edits: edits.edits.filter(({ path }) => path.at(-3) === 'containers') };
}

function fieldEdits(object: Manifest, item: FieldOverride): ItemEdits {
  if (item.patch.length > 0) return overrideField(object, item, asKarmadaOperation);
  const found = textToEdit(object, item.path);
  return found.result === 'failed' ? found : { result: 'edits', edits: [{ path: found.path, value: '', replaces: true }], warnings: [] };
}

/**
 * A `PatchAdapter` with the leniency of Karmada's library (json-patch 5). List indexes follow `withPositiveIndexes`. `replace` adds a member
 * with an empty key. An operation without a value uses null.
 */
function asKarmadaOperation(operation: JsonPatchOperation, document: Json): readonly JsonPatchOperation[] {
  const written = parsePointer(operation.path);
  if (written === undefined || written.length === 0) return [operation];
  const keys = withPositiveIndexes(written, operation.op, document);
  const isAdded = operation.op === 'replace' && keys.at(-1) === '' && isJsonObject(valueAtKeys(document, keys.slice(0, -1)));
  return [{ ...operation, op: isAdded ? 'add' : operation.op, path: printPointer(keys) }];
}
