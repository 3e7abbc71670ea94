import { MusterError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { objectAt, textAt } from '../../core/json-at.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import { parsePointer, printPointer, valueAtKeys } from '../../manifests/json-pointer.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { containersIn } from '../../manifests/pod-specs.ts';
import type { FieldOverride, MapOverride, Override, OverrideOperator } from '../model/spec.ts';
import { applyOverrides, overrideList } from '../plan/overrides/apply-overrides.ts';
import { type FieldEdit, type ItemEdits, printEdits, withEdits } from '../plan/overrides/edits.ts';
import { parseImageReference, printImageReference } from '../plan/overrides/image-reference.ts';
import { overrideImage } from '../plan/overrides/override-image.ts';
import { memberClusterOf } from './karmada-cluster.ts';

/** Karmada's Overriders (policy/v1alpha1): the changes, without their target clusters. The type of `value` depends on the overrider. */
export interface Overriders {
  readonly imageOverrider?: readonly ImageOverrider[] | null;
  readonly commandOverrider?: readonly CommandOverrider[] | null;
  readonly argsOverrider?: readonly CommandOverrider[] | null;
  readonly labelsOverrider?: readonly MapOverrider[] | null;
  readonly annotationsOverrider?: readonly MapOverrider[] | null;
  readonly fieldOverrider?: readonly FieldOverrider[] | null;
  readonly plaintext?: readonly PlaintextOverrider[] | null;
}

type OverriderOperator = 'add' | 'remove' | 'replace';

interface ImageOverrider {
  readonly predicate?: { readonly path?: string } | null;
  readonly component: 'Registry' | 'Repository' | 'Tag';
  readonly operator: OverriderOperator;
  readonly value?: string;
}

interface CommandOverrider {
  readonly containerName: string;
  readonly operator: OverriderOperator;
  readonly value?: readonly string[] | null;
}

interface MapOverrider {
  readonly operator: OverriderOperator;
  readonly value?: Readonly<Record<string, string>> | null;
}

interface FieldOverrider {
  readonly fieldPath: string;
  readonly json?: readonly FieldPatch[] | null;
  readonly yaml?: readonly FieldPatch[] | null;
}

export interface FieldPatch {
  readonly subPath: string;
  readonly operator: OverriderOperator;
  readonly value?: Json;
}

interface PlaintextOverrider {
  readonly path: string;
  readonly operator: OverriderOperator;
  readonly value?: Json;
}

type Patches = { readonly patches: ReturnType<typeof printEdits> };

/**
 * Applies one block of overriders, in Karmada's order: image, command, args, labels, annotations, fields, plaintext.
 *
 * @throws {MusterError} `BAD_INPUT` where Karmada fails: for a missing path or an invalid image.
 */
export function applyOverriders({ object, overriders }: { readonly object: Manifest; readonly overriders: Overriders }): {
  readonly object: Manifest;
} {
  const images = edited(object, overriders.imageOverrider ?? [], imageEdits);
  const commands = edited(images, overriders.commandOverrider ?? [], (before, item) => listEdits(before, 'command', item));
  const args = edited(commands, overriders.argsOverrider ?? [], (before, item) => listEdits(before, 'args', item));
  const outcome = applyOverrides({ object: args, overrides: [overrideOf(overriders)], cluster: memberClusterOf({}) });
  if (outcome.result === 'failed') throw new MusterError('BAD_INPUT', `${outcome.path}: ${outcome.message}`);
  return { object: outcome.object };
}

/** Returns the RFC 6902 operations of an image overrider. Throws like `applyOverriders`. */
export function imagePatches({ object, imageOverrider }: { readonly object: Manifest; readonly imageOverrider: ImageOverrider }): Patches {
  return { patches: printEdits(editsIn(imageEdits(object, imageOverrider))) };
}

/** Returns the RFC 6902 operations of a command overrider. */
export function commandPatches({
  object,
  commandOverrider,
}: {
  readonly object: Manifest;
  readonly commandOverrider: CommandOverrider;
}): Patches {
  return { patches: printEdits(editsIn(listEdits(object, 'command', commandOverrider))) };
}

/** Returns the RFC 6902 operations of an arguments overrider. */
export function argsPatches({ object, argsOverrider }: { readonly object: Manifest; readonly argsOverrider: CommandOverrider }): Patches {
  return { patches: printEdits(editsIn(listEdits(object, 'args', argsOverrider))) };
}

/** Returns the labels after these overriders. */
export function applyLabels({
  object,
  labelsOverrider,
}: {
  readonly object: Manifest;
  readonly labelsOverrider: readonly MapOverrider[];
}): {
  readonly labels: JsonObject;
} {
  return { labels: objectAt(applyOverriders({ object, overriders: { labelsOverrider } }).object, 'metadata', 'labels') };
}

/** Returns the annotations after these overriders. */
export function applyAnnotations({
  object,
  annotationsOverrider,
}: {
  readonly object: Manifest;
  readonly annotationsOverrider: readonly MapOverrider[];
}): { readonly annotations: JsonObject } {
  return { annotations: objectAt(applyOverriders({ object, overriders: { annotationsOverrider } }).object, 'metadata', 'annotations') };
}

function edited<Item>(object: Manifest, items: readonly Item[], edits: (object: Manifest, item: Item) => ItemEdits): Manifest {
  return items.reduce((before, item) => withEdits(before, editsIn(edits(before, item))), object);
}

function editsIn(edits: ItemEdits): readonly FieldEdit[] {
  if (edits.result === 'failed') throw new MusterError('BAD_INPUT', edits.message);
  return edits.edits;
}

/** The kinds whose containers Karmada changes. It ignores other kinds without an error. */
const podKinds: ReadonlySet<string> = new Set(['Pod', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job']);

const nothing: ItemEdits = { result: 'edits', edits: [], warnings: [] };

/** Returns the edits of an image overrider. Every image gets an edit; if the value does not fit, the image is replaced with itself. */
function imageEdits(object: Manifest, { predicate, ...overrider }: ImageOverrider): ItemEdits {
  const edits: FieldEdit[] = [];
  for (const path of predicate?.path === undefined ? imagePathsOf(object) : [predicate.path]) {
    const edited = imageEdit(object, overrider, path);
    if (edited.result === 'failed') return edited;
    edits.push(...edited.edits);
  }
  return { result: 'edits', edits, warnings: [] };
}

function imagePathsOf(object: Manifest): readonly string[] {
  if (!podKinds.has(object.kind)) return [];
  const withImage = containersIn(object, 'Main').filter(({ container }) => textAt(container, 'image') !== undefined);
  return withImage.map(({ path }) => printPointer([...path, 'image']));
}

function imageEdit(object: Manifest, { component, operator, value }: Omit<ImageOverrider, 'predicate'>, pointer: string): ItemEdits {
  const edits = overrideImage(object, {
    component: components[component],
    operator: operators[operator],
    scope: 'Main',
    path: pointer,
    ...(value === undefined ? {} : { value }),
  });
  if (edits.result === 'failed') return edits;
  const path = parsePointer(pointer) ?? [];
  const [edit = { path, value: valueAtKeys(object, path) ?? '', replaces: true }] = edits.edits;
  return { ...edits, edits: [withoutDigestBesideTag(edit)] };
}

const components = { Registry: 'registry', Repository: 'repository', Tag: 'tag' } as const;
const operators: Readonly<Record<OverriderOperator, OverrideOperator>> = { add: 'Add', remove: 'Remove', replace: 'Replace' };

function withoutDigestBesideTag(edit: FieldEdit): FieldEdit {
  const reference = typeof edit.value === 'string' ? parseImageReference(edit.value) : undefined;
  if (reference?.tag === undefined || reference.digest === undefined) return edit;
  const { digest: _digest, ...tagged } = reference;
  return { ...edit, value: printImageReference(tagged) };
}

/** Returns the edits of a command or args overrider. Only main containers change. `replace` has no effect. */
function listEdits(object: Manifest, field: 'command' | 'args', { containerName, operator, value }: CommandOverrider): ItemEdits {
  if (operator === 'replace' || !podKinds.has(object.kind)) return nothing;
  const edits = overrideList(object, field, { container: containerName, operator: operators[operator], values: value ?? [] });
  return edits.result === 'failed' ? edits : { ...edits, edits: edits.edits.filter(({ path }) => path.at(-3) === 'containers') };
}

/** Converts the overriders that remain after images, commands and args. */
function overrideOf({ labelsOverrider, annotationsOverrider, fieldOverrider, plaintext }: Overriders): Override {
  const fields = fieldOverrider ?? [];
  return {
    set: {},
    objects: {},
    image: [],
    command: [],
    args: [],
    env: [],
    labels: (labelsOverrider ?? []).map(mapOverrideOf),
    annotations: (annotationsOverrider ?? []).map(mapOverrideOf),
    fields: fields.flatMap((field) => fieldOverrideOf(field) ?? []),
    jsonPatch: [
      // Karmada empties a field without a JSON or YAML patch.
      ...fields
        .filter((field) => fieldOverrideOf(field) === undefined)
        .map(({ fieldPath }): JsonPatchOperation => ({ op: 'replace', path: fieldPath, value: '' })),
      ...(plaintext ?? []).map(({ path, operator, value = null }): JsonPatchOperation => ({ op: operator, path, value })),
    ],
  };
}

function mapOverrideOf({ operator, value }: MapOverrider): MapOverride {
  return { operator: operators[operator], values: value ?? {} };
}

/** Converts a field overrider. If it has both JSON and YAML patches, the YAML patches are used. */
function fieldOverrideOf({ fieldPath, json, yaml }: FieldOverrider): FieldOverride | undefined {
  const format = (yaml ?? []).length > 0 ? 'yaml' : 'json';
  const patches = (format === 'yaml' ? yaml : json) ?? [];
  if (patches.length === 0) return undefined;
  const patch = patches.map(({ subPath, operator, value = null }): JsonPatchOperation => ({ op: operator, path: subPath, value }));
  return { path: fieldPath, format, patch };
}
