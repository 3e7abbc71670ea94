import type { JsonObject } from '../../core/json.ts';
import { isJsonObject, tryParseJson } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';
import { warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { fieldPath } from '../model/unknown-fields.ts';

interface ImportedDeletion {
  /** `deletion` of a spec. Empty: the defaults apply. */
  readonly deletion: JsonObject;
  readonly notes: readonly ImportNote[];
}

const orphanAnnotation = 'kubefed.io/orphan';
const optionsAnnotation = 'kubefed.io/deleteoption';

/** Translates the annotations of a federated object that say how its copies are deleted: `kubefed.io/orphan`, `kubefed.io/deleteoption`. */
export function importedDeletion({ object, path }: ObjectDocument): ImportedDeletion {
  const policy = textAt(object, 'metadata', 'annotations', orphanAnnotation) === 'true' ? { policy: 'Orphan' } : {};
  const written = textAt(object, 'metadata', 'annotations', optionsAnnotation);
  if (written === undefined) return { deletion: policy, notes: [] };
  const at = fieldPath(`${path}.metadata.annotations`, optionsAnnotation);
  const options = tryParseJson(written);
  const cascade = textAt(options, 'propagationPolicy');
  const isKnown = cascade !== undefined && ['Background', 'Foreground', 'Orphan'].includes(cascade);
  const others = isJsonObject(options) ? Object.keys(options).filter((key) => key !== 'propagationPolicy') : [];
  return {
    deletion: { ...policy, ...(isKnown ? { cascade } : {}) },
    notes: [
      ...(isKnown || isJsonObject(options)
        ? []
        : [warningNote('UNSUPPORTED', at, 'expected delete options as JSON, such as {"propagationPolicy": "Foreground"}')]),
      ...others.map((key) => warningNote('UNSUPPORTED', fieldPath(at, key), `expected the delete option propagationPolicy, got ${key}`)),
    ],
  };
}
