import { isJsonObject } from '../../../core/json.ts';
import { textAt } from '../../../core/json-at.ts';
import { parsePointer, valueAtKeys } from '../../../manifests/json-pointer.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { containersIn } from '../../../manifests/pod-specs.ts';
import type { ImageOverride } from '../../model/spec.ts';
import { type EditWarning, type FieldEdit, type ItemEdits, unknownContainerWarning, withoutEffect } from './edits.ts';
import { type ImageReference, isImageDigest, isImageTag, parseImageReference, printImageReference } from './image-reference.ts';

/**
 * Changes one part of image references: those of containers, or the one text at `path` (docs/internals/propagation.md 3.5). A container without an image is passed over.
 * Fails at a reference that is none, and where nothing or no text stands at `path`.
 */
export function overrideImage(object: Manifest, item: ImageOverride): ItemEdits {
  return item.path === undefined ? overrideContainers(object, item) : overridePath(object, item, item.path);
}

function overridePath(object: Manifest, item: ImageOverride, pointer: string): ItemEdits {
  const path = parsePointer(pointer);
  const found = path === undefined ? undefined : valueAtKeys(object, path);
  if (path === undefined || typeof found !== 'string') {
    return { result: 'failed', path: '.path', message: `expected a JSON pointer to a text, got ${JSON.stringify(pointer)}` };
  }
  return editOf(item, { path, text: found });
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
  return withoutEffect(`expected an object with images of containers in scope ${item.scope}, got one without`);
}

function unknownOf(item: ImageOverride, inScope: readonly { readonly name: string | undefined }[]): EditWarning[] {
  const unknown = (item.containers ?? []).filter((wanted) => !inScope.some(({ name }) => name === wanted));
  return unknown.map((name) => unknownContainerWarning(name, '.containers'));
}

/** The edit of one reference, or the warning that the value does not fit it. */
function editOf(item: ImageOverride, { path, text }: { readonly path: readonly string[]; readonly text: string }): ItemEdits {
  const reference = parseImageReference(text);
  if (reference === undefined)
    return { result: 'failed', path: '', message: `expected an image reference at ${JSON.stringify(`/${path.join('/')}`)}` };
  const changed = changedReference(reference, item);
  if (changed === undefined) {
    return withoutEffect(`expected a value that makes a ${item.component} of what the image has, got one that does not`, '.value');
  }
  return { result: 'edits', edits: [{ path, value: printImageReference(changed), replaces: true }], warnings: [] };
}

/** Undefined if the value does not fit: then nothing changes. */
function changedReference(reference: ImageReference, { component, operator, value = '' }: ImageOverride): ImageReference | undefined {
  switch (component) {
    case 'registry':
    case 'repository':
      return renamed(
        reference,
        component,
        operator === 'Remove' ? '' : operator === 'Add' ? `${reference[component] ?? ''}${value}` : value,
      );
    case 'tag':
      if (operator === 'Remove') return { ...named(reference) };
      return retagged(reference, operator === 'Add' ? `${reference.tag ?? reference.digest ?? ''}${value}` : value);
    case 'digest':
      return digested(reference, operator === 'Remove' ? undefined : operator === 'Add' ? `${reference.digest ?? ''}${value}` : value);
    default:
      return component satisfies never;
  }
}

function renamed(reference: ImageReference, component: 'registry' | 'repository', value: string): ImageReference {
  if (component === 'repository') return { ...reference, repository: value };
  const { registry: _registry, ...rest } = reference;
  return value === '' ? rest : { ...rest, registry: value };
}

/** A tag covers both: one drops the other. */
function retagged(reference: ImageReference, value: string): ImageReference | undefined {
  if (isImageTag(value)) return { ...named(reference), tag: value };
  return isImageDigest(value) ? { ...named(reference), digest: value } : undefined;
}

/** The digest alone: a tag beside it stays, as a word to people. */
function digested(reference: ImageReference, value: string | undefined): ImageReference | undefined {
  const { digest: _digest, ...rest } = reference;
  if (value === undefined) return rest;
  return isImageDigest(value) ? { ...rest, digest: value } : undefined;
}

function named({ registry, repository }: ImageReference): ImageReference {
  return registry === undefined ? { repository } : { registry, repository };
}
