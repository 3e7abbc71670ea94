import { isJsonObject } from '../../../core/json.ts';
import { textAt } from '../../../core/json-at.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { containersIn } from '../../../manifests/pod-specs.ts';
import type { ImageOverride } from '../../model/spec.ts';
import { type EditWarning, type FieldEdit, type ItemEdits, textToEdit, unknownContainerWarning, withoutEffect } from './edits.ts';
import { type ImageReference, isImageDigest, isImageTag, parseImageReference, printImageReference } from './image-reference.ts';

/**
 * Changes one part of image references: of containers, or of the text at `path` (docs/internals/propagation.md 3.5). Skips containers
 * without an image. Fails if a reference is invalid, or if there is no text at `path`.
 */
export function overrideImage(object: Manifest, item: ImageOverride): ItemEdits {
  return item.path === undefined ? overrideContainers(object, item) : overridePath(object, item, item.path);
}

function overridePath(object: Manifest, item: ImageOverride, pointer: string): ItemEdits {
  const found = textToEdit(object, pointer);
  return found.result === 'failed' ? found : editOf(item, found);
}

function overrideContainers(object: Manifest, item: ImageOverride): ItemEdits {
  const inScope = containersIn(object, item.scope);
  const named = inScope.filter(({ name }) => item.containers === undefined || (name !== undefined && item.containers.includes(name)));
  const edits: FieldEdit[] = [];
  const warnings: EditWarning[] = unknownOf(item, inScope);
  for (const { path, container } of named) {
    const text = textAt(container, 'image');
    if (text === undefined || !isJsonObject(container)) continue;
    const edited = editOf(item, { path: [...path, 'image'], text });
    if (edited.result === 'failed') return edited;
    edits.push(...edited.edits);
    warnings.push(...edited.warnings);
  }
  if (edits.length > 0 || warnings.length > 0) return { result: 'edits', edits, warnings };
  return withoutEffect(`expected an object with container images in scope ${item.scope}, got one without`);
}

function unknownOf(item: ImageOverride, inScope: readonly { readonly name: string | undefined }[]): EditWarning[] {
  const unknown = (item.containers ?? []).filter((wanted) => !inScope.some(({ name }) => name === wanted));
  return unknown.map((name) => unknownContainerWarning(name, '.containers'));
}

/** Returns the edit of one reference, or a warning if the new value is not valid for it. */
function editOf(item: ImageOverride, { path, text }: { readonly path: readonly string[]; readonly text: string }): ItemEdits {
  const reference = parseImageReference(text);
  if (reference === undefined)
    return { result: 'failed', path: '', message: `expected an image reference at ${JSON.stringify(`/${path.join('/')}`)}` };
  const changed = changedReference(reference, item);
  if (changed === undefined) {
    return withoutEffect(`expected a value that gives the image a valid ${item.component}`, '.value');
  }
  return { result: 'edits', edits: [{ path, value: printImageReference(changed), replaces: true }], warnings: [] };
}

/** Changes one part of a reference. Undefined if the value is not valid for that part. */
function changedReference(reference: ImageReference, { component, operator, value = '' }: ImageOverride): ImageReference | undefined {
  switch (component) {
    case 'registry':
    case 'repository':
      return withName(
        reference,
        component,
        operator === 'Remove' ? '' : operator === 'Add' ? `${reference[component] ?? ''}${value}` : value,
      );
    case 'tag':
      if (operator === 'Remove') return { ...withoutTagAndDigest(reference) };
      return withTag(reference, operator === 'Add' ? `${reference.tag ?? reference.digest ?? ''}${value}` : value);
    case 'digest':
      return withDigest(reference, operator === 'Remove' ? undefined : operator === 'Add' ? `${reference.digest ?? ''}${value}` : value);
    default:
      return component satisfies never;
  }
}

function withName(reference: ImageReference, component: 'registry' | 'repository', value: string): ImageReference {
  if (component === 'repository') return { ...reference, repository: value };
  const { registry: _registry, ...rest } = reference;
  return value === '' ? rest : { ...rest, registry: value };
}

/** Replaces tag and digest by `value`, which is a tag or a digest. Undefined if it is neither. */
function withTag(reference: ImageReference, value: string): ImageReference | undefined {
  if (isImageTag(value)) return { ...withoutTagAndDigest(reference), tag: value };
  return isImageDigest(value) ? { ...withoutTagAndDigest(reference), digest: value } : undefined;
}

/**
 * Replaces the digest, or removes it if `value` is undefined. An existing tag stays, as information for people. Undefined if the value is
 * not a digest.
 */
function withDigest(reference: ImageReference, value: string | undefined): ImageReference | undefined {
  const { digest: _digest, ...rest } = reference;
  if (value === undefined) return rest;
  return isImageDigest(value) ? { ...rest, digest: value } : undefined;
}

function withoutTagAndDigest({ registry, repository }: ImageReference): ImageReference {
  return registry === undefined ? { repository } : { registry, repository };
}
