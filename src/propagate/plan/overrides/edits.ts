import type { Json } from '../../../core/json.ts';
import { parsePointer, valueAtKeys, withValueAtKeys } from '../../../manifests/json-pointer.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { NoteCode } from '../../model/notes.ts';

/** One change of an object: a value that is added to an existing map, or that replaces another value. */
export interface FieldEdit {
  readonly path: readonly string[];
  readonly value: Json;
  /** True if there was a value at `path` before. */
  readonly replaces: boolean;
}

/** A warning about one item of an override. `path` is relative to the item, such as `.container`. It is empty for the item itself. */
export interface EditWarning {
  readonly code: Extract<NoteCode, 'UNKNOWN_CONTAINER' | 'OVERRIDE_WITHOUT_EFFECT'>;
  readonly path: string;
  readonly message: string;
}

/** The result of one item of an override. The `path` of a failure starts below the item. Messages never contain values of the manifest. */
export type ItemEdits =
  | { readonly result: 'edits'; readonly edits: readonly FieldEdit[]; readonly warnings: readonly EditWarning[] }
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

/** Returns the text at the pointer with its path, or a failure if there is no text. */
export function textToEdit(
  object: Manifest,
  pointer: string,
):
  | { readonly result: 'text'; readonly path: readonly string[]; readonly text: string }
  | Extract<ItemEdits, { readonly result: 'failed' }> {
  const path = parsePointer(pointer);
  const text = path === undefined ? undefined : valueAtKeys(object, path);
  if (path !== undefined && typeof text === 'string') return { result: 'text', path, text };
  return { result: 'failed', path: '.path', message: `expected a JSON pointer to a text, got ${JSON.stringify(pointer)}` };
}

/** Applies the edits to the object, one after the other. */
export function withEdits(object: Manifest, edits: readonly FieldEdit[]): Manifest {
  // An edit changes one value within the object, never the object as a whole. So the result is still a map.
  return edits.reduce<Manifest>((edited, { path, value }) => withValueAtKeys(edited, path, value) as Manifest, object);
}

/** Returns the result of an item that changes nothing, with a warning. */
export function withoutEffect(message: string, path = ''): ItemEdits {
  return { result: 'edits', edits: [], warnings: [{ code: 'OVERRIDE_WITHOUT_EFFECT', path, message }] };
}

/** Returns the warning for an item of an override that names a container which the object does not have. `path` leads to that name. */
export function unknownContainerWarning(name: string, path: string): EditWarning {
  return { code: 'UNKNOWN_CONTAINER', path, message: `expected the name of a container of the object, got ${JSON.stringify(name)}` };
}
