import type { z } from 'zod';
import { listSchema, readDocument, structureSchema } from '../../core/json/documents.ts';
import { anyText } from '../../core/json/field-definitions.ts';
import type { Json } from '../../core/json.ts';
import { errorNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';

/** A list of clusters by name, as KubeFed and MultiClusterResources have it: `[{ name: eu }]`. A name may be an empty text. */
export const clusterReferences = listSchema(structureSchema({ name: anyText }), { max: 10_000 });

/**
 * Returns an error note for the first part of a value that has a wrong type. Undefined if all types are right, or if the value is null or
 * absent. Unknown fields are not checked: `unknownFieldNotes` reports them.
 */
export function wrongTypeNote(schema: z.ZodType, value: Json | undefined, path: string): ImportNote | undefined {
  if (value === undefined || value === null) return undefined;
  const read = readDocument(schema, value, { path, ignoreUnknown: () => undefined });
  const first = 'problems' in read ? read.problems[0] : undefined;
  return first && errorNote('INVALID', first.path, first.message);
}
