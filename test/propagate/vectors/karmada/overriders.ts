import { MusterError } from '../../../../src/core/errors.ts';
import type { Json, JsonObject } from '../../../../src/core/json.ts';
import { objectAt } from '../../../../src/core/json-at.ts';
import { printPointer } from '../../../../src/manifests/json-pointer.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import { type Overriders, overrideOf } from '../../../../src/propagate/karmada/overriders.ts';
import type { Override } from '../../../../src/propagate/model/spec.ts';
import { karmadaOverrideRules } from '../../../../src/propagate/plan/exact/override-as-karmada.ts';
import { applyOverrides } from '../../../../src/propagate/plan/overrides/apply-overrides.ts';
import type { FieldEdit, ItemEdits } from '../../../../src/propagate/plan/overrides/edits.ts';
import { memberClusterOf } from './karmada-cluster.ts';

type ItemOf<Name extends keyof Overriders> = NonNullable<Overriders[Name]>[number];

type Patches = { readonly patches: ReturnType<typeof printEdits> };

/**
 * Applies one block of overriders, in Karmada's order: image, command, args, labels, annotations, fields, plaintext.
 *
 * @throws {MusterError} `BAD_INPUT` where Karmada fails: for a missing path or an invalid image.
 */
export function applyOverriders({ object, overriders }: { readonly object?: Manifest | null; readonly overriders?: Overriders | null }): {
  readonly object: Manifest;
} {
  const outcome = applyOverrides({
    object: object ?? { apiVersion: '', kind: '', metadata: { name: '' } },
    overrides: [overrideOf(overriders ?? {})],
    cluster: memberClusterOf({}),
    rules: karmadaOverrideRules,
  });
  if (outcome.result === 'failed') throw new MusterError('BAD_INPUT', `${outcome.path}: ${outcome.message}`);
  return { object: outcome.object };
}

/** Returns the RFC 6902 operations of an image overrider. Throws like `applyOverriders`. */
export function imagePatches({
  object,
  imageOverrider,
}: {
  readonly object: Manifest;
  readonly imageOverrider: ItemOf<'imageOverrider'>;
}): Patches {
  return { patches: printEdits(editsIn(karmadaOverrideRules.image(object, itemOf({ imageOverrider: [imageOverrider] }, 'image')))) };
}

/** Returns the RFC 6902 operations of a command overrider. */
export function commandPatches({
  object,
  commandOverrider,
}: {
  readonly object: Manifest;
  readonly commandOverrider: ItemOf<'commandOverrider'>;
}): Patches {
  return {
    patches: printEdits(editsIn(karmadaOverrideRules.list(object, 'command', itemOf({ commandOverrider: [commandOverrider] }, 'command')))),
  };
}

/** Returns the RFC 6902 operations of an arguments overrider. */
export function argsPatches({
  object,
  argsOverrider,
}: {
  readonly object: Manifest;
  readonly argsOverrider: ItemOf<'commandOverrider'>;
}): Patches {
  return { patches: printEdits(editsIn(karmadaOverrideRules.list(object, 'args', itemOf({ argsOverrider: [argsOverrider] }, 'args')))) };
}

/** Returns the labels after these overriders. */
export function applyLabels({
  object,
  labelsOverrider,
}: {
  readonly object: Manifest;
  readonly labelsOverrider: readonly ItemOf<'labelsOverrider'>[];
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
  readonly annotationsOverrider: readonly ItemOf<'labelsOverrider'>[];
}): { readonly annotations: JsonObject } {
  return { annotations: objectAt(applyOverriders({ object, overriders: { annotationsOverrider } }).object, 'metadata', 'annotations') };
}

function editsIn(edits: ItemEdits): readonly FieldEdit[] {
  if (edits.result === 'failed') throw new MusterError('BAD_INPUT', edits.message);
  return edits.edits;
}

/** Converts the only overrider. */
function itemOf<Name extends 'image' | 'command' | 'args'>(overriders: Overriders, name: Name): Override[Name][number] {
  const [item] = overrideOf(overriders)[name];
  if (item === undefined) throw new Error(`expected an overrider for ${name}`);
  return item;
}

/** Returns the edits as operations of a JSON patch (RFC 6902). */
function printEdits(
  edits: readonly FieldEdit[],
): readonly { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }[] {
  return edits.map(({ path, value, replaces }) => ({ op: replaces ? 'replace' : 'add', path: printPointer(path), value }));
}
