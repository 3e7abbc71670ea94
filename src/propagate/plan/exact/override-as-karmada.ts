import { textAt } from '../../../core/json-at.ts';
import { printPointer } from '../../../manifests/json-pointer.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { containersIn } from '../../../manifests/pod-specs.ts';
import type { FieldOverride, ImageOverride, ListOverride } from '../../model/spec.ts';
import { type FieldEdit, type ItemEdits, textToEdit } from '../overrides/edits.ts';
import { parseImageReference, printImageReference } from '../overrides/image-reference.ts';
import { overrideField } from '../overrides/override-fields.ts';
import { overrideImage } from '../overrides/override-image.ts';
import { overrideList } from '../overrides/override-list.ts';
import type { OverrideRules } from '../overrides/override-rules.ts';

/**
 * The items of an override with the effect of Karmada's overriders (docs/internals/propagation.md 3.5):
 *
 * - Images, commands and arguments change in main containers of some kinds only. Other kinds are ignored without a warning.
 * - An image with a tag loses its digest.
 * - `Replace` of a command or of arguments keeps the list. If there is none, an empty list appears.
 * - A field without a patch becomes empty.
 */
export const karmadaOverrideRules: OverrideRules = { image: imageEdits, list: listEdits, field: fieldEdits };

/** The kinds whose containers Karmada changes. */
const podKinds: ReadonlySet<string> = new Set(['Pod', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job']);

/** Returns an edit for every image. If the value does not fit, the image is replaced with itself. */
function imageEdits(object: Manifest, item: ImageOverride): ItemEdits {
  const edits: FieldEdit[] = [];
  for (const path of item.path === undefined ? imagePathsOf(object, item) : [item.path]) {
    const edited = imageEdit(object, item, path);
    if (edited.result === 'failed') return edited;
    edits.push(...edited.edits);
  }
  return { result: 'edits', edits, warnings: [] };
}

function imagePathsOf(object: Manifest, { containers }: ImageOverride): readonly string[] {
  if (!podKinds.has(object.kind)) return [];
  return containersIn(object, 'Main')
    .filter(({ name }) => containers === undefined || (name !== undefined && containers.includes(name)))
    .filter(({ container }) => textAt(container, 'image') !== undefined)
    .map(({ path }) => printPointer([...path, 'image']));
}

function imageEdit(object: Manifest, { containers: _containers, ...item }: ImageOverride, pointer: string): ItemEdits {
  const found = textToEdit(object, pointer);
  if (found.result === 'failed') return found;
  const edits = overrideImage(object, { ...item, path: pointer });
  if (edits.result === 'failed') return edits;
  const [edit = { path: found.path, value: found.text, replaces: true }] = edits.edits;
  return { ...edits, edits: [withoutDigestBesideTag(edit)] };
}

function withoutDigestBesideTag(edit: FieldEdit): FieldEdit {
  const reference = typeof edit.value === 'string' ? parseImageReference(edit.value) : undefined;
  if (reference?.tag === undefined || reference.digest === undefined) return edit;
  const { digest: _digest, ...tagged } = reference;
  return { ...edit, value: printImageReference(tagged) };
}

function listEdits(object: Manifest, field: 'command' | 'args', item: ListOverride): ItemEdits {
  if (!podKinds.has(object.kind)) return { result: 'edits', edits: [], warnings: [] };
  const edits = overrideList(object, field, item.operator === 'Replace' ? { ...item, operator: 'Add', values: [] } : item);
  return edits.result === 'failed' ? edits : { ...edits, edits: edits.edits.filter(({ path }) => path.at(-3) === 'containers') };
}

function fieldEdits(object: Manifest, item: FieldOverride): ItemEdits {
  if (item.patch.length > 0) return overrideField(object, item);
  const found = textToEdit(object, item.path);
  return found.result === 'failed' ? found : { result: 'edits', edits: [{ path: found.path, value: '', replaces: true }], warnings: [] };
}
