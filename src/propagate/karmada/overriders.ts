import { MusterError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { FieldOverride, ImageOverride, ListOverride, MapOverride, Override, OverrideOperator } from '../model/spec.ts';
import { karmadaOverrideRules } from '../plan/exact/override-as-karmada.ts';
import { applyOverrides } from '../plan/overrides/apply-overrides.ts';
import { type FieldEdit, type ItemEdits, printEdits } from '../plan/overrides/edits.ts';
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
  const outcome = applyOverrides({
    object,
    overrides: [overrideOf(overriders)],
    cluster: memberClusterOf({}),
    rules: karmadaOverrideRules,
  });
  if (outcome.result === 'failed') throw new MusterError('BAD_INPUT', `${outcome.path}: ${outcome.message}`);
  return { object: outcome.object };
}

/** Returns the RFC 6902 operations of an image overrider. Throws like `applyOverriders`. */
export function imagePatches({ object, imageOverrider }: { readonly object: Manifest; readonly imageOverrider: ImageOverrider }): Patches {
  return { patches: printEdits(editsIn(karmadaOverrideRules.image(object, imageOverrideOf(imageOverrider)))) };
}

/** Returns the RFC 6902 operations of a command overrider. */
export function commandPatches({
  object,
  commandOverrider,
}: {
  readonly object: Manifest;
  readonly commandOverrider: CommandOverrider;
}): Patches {
  return { patches: printEdits(editsIn(karmadaOverrideRules.list(object, 'command', listOverrideOf(commandOverrider)))) };
}

/** Returns the RFC 6902 operations of an arguments overrider. */
export function argsPatches({ object, argsOverrider }: { readonly object: Manifest; readonly argsOverrider: CommandOverrider }): Patches {
  return { patches: printEdits(editsIn(karmadaOverrideRules.list(object, 'args', listOverrideOf(argsOverrider)))) };
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

function editsIn(edits: ItemEdits): readonly FieldEdit[] {
  if (edits.result === 'failed') throw new MusterError('BAD_INPUT', edits.message);
  return edits.edits;
}

const components = { Registry: 'registry', Repository: 'repository', Tag: 'tag' } as const;
const operators: Readonly<Record<OverriderOperator, OverrideOperator>> = { add: 'Add', remove: 'Remove', replace: 'Replace' };

/**
 * Converts one block of overriders to an override for all objects and clusters. With `karmadaOverrideRules`, it has the same effect as in
 * Karmada.
 */
export function overrideOf(overriders: Overriders): Override {
  return {
    set: {},
    objects: {},
    image: (overriders.imageOverrider ?? []).map(imageOverrideOf),
    command: (overriders.commandOverrider ?? []).map(listOverrideOf),
    args: (overriders.argsOverrider ?? []).map(listOverrideOf),
    env: [],
    labels: (overriders.labelsOverrider ?? []).map(mapOverrideOf),
    annotations: (overriders.annotationsOverrider ?? []).map(mapOverrideOf),
    fields: (overriders.fieldOverrider ?? []).map(fieldOverrideOf),
    jsonPatch: (overriders.plaintext ?? []).map(({ path, operator, value = null }) => ({ op: operator, path, value })),
  };
}

function imageOverrideOf({ predicate, component, operator, value }: ImageOverrider): ImageOverride {
  const path = predicate === undefined || predicate === null ? undefined : (predicate.path ?? '');
  return {
    component: components[component],
    operator: operators[operator],
    scope: 'Main',
    ...(value === undefined ? {} : { value }),
    ...(path === undefined ? {} : { path }),
  };
}

function listOverrideOf({ containerName, operator, value }: CommandOverrider): ListOverride {
  return { container: containerName, operator: operators[operator], values: value ?? [] };
}

function mapOverrideOf({ operator, value }: MapOverrider): MapOverride {
  return { operator: operators[operator], values: value ?? {} };
}

/** Converts a field overrider. If it has both JSON and YAML patches, the YAML patches are used. */
function fieldOverrideOf({ fieldPath, json, yaml }: FieldOverrider): FieldOverride {
  const format = (yaml ?? []).length > 0 ? 'yaml' : 'json';
  const patches = (format === 'yaml' ? yaml : json) ?? [];
  const patch = patches.map(({ subPath, operator, value = null }): JsonPatchOperation => ({ op: operator, path: subPath, value }));
  return { path: fieldPath, format, patch };
}
