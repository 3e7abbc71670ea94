import type { Json } from '../../../core/json.ts';
import { printPointer, withValueAtKeys } from '../../../manifests/json-pointer.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { NoteCode } from '../../model/notes.ts';

/** A value that is set somewhere: a new member of a map that is there, or what stands in the place of another value. */
export interface FieldEdit {
  readonly path: readonly string[];
  readonly value: Json;
  /** Whether something stood there. */
  readonly replaces: boolean;
}

/** A warning about one item of an override. `path` is below the item, such as `.container`; empty for the item itself. */
export interface EditWarning {
  readonly code: Extract<NoteCode, 'UNKNOWN_CONTAINER' | 'OVERRIDE_WITHOUT_EFFECT'>;
  readonly path: string;
  readonly message: string;
}

/** What one item of an override comes to. `path` of a failure is below the item; no message holds a value of the manifest. */
export type ItemEdits =
  | { readonly result: 'edits'; readonly edits: readonly FieldEdit[]; readonly warnings: readonly EditWarning[] }
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

/** The object with these edits, one after the other. */
export function withEdits(object: Manifest, edits: readonly FieldEdit[]): Manifest {
  // Edits are made of places in the object, never of its whole: it stays a map.
  return edits.reduce<Manifest>((edited, { path, value }) => withValueAtKeys(edited, path, value) as Manifest, object);
}

/** The edits as operations of RFC 6902. */
export function printEdits(
  edits: readonly FieldEdit[],
): readonly { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }[] {
  return edits.map(({ path, value, replaces }) => ({ op: replaces ? 'replace' : 'add', path: printPointer(path), value }));
}

/** An item that has no effect but a warning. */
export function withoutEffect(message: string, path = ''): ItemEdits {
  return { result: 'edits', edits: [], warnings: [{ code: 'OVERRIDE_WITHOUT_EFFECT', path, message }] };
}

/** An item that names a container which the object does not have. */
export function unknownContainerWarning(name: string, path: string): EditWarning {
  return { code: 'UNKNOWN_CONTAINER', path, message: `expected the name of a container, got ${JSON.stringify(name)}: there is none` };
}
