import { isJsonObject, type JsonObject, tryParseJson } from '../../core/json.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
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

/** The values of `propagationPolicy` in the delete options of Kubernetes, which are also those of `deletion.cascade`. */
const cascades: readonly string[] = ['Background', 'Foreground', 'Orphan'];

/** Maximum characters of a refused value in a note. */
const maxShownCharacters = 100;

/** Translates the annotations of a federated object that say how its copies are deleted: `kubefed.io/orphan`, `kubefed.io/deleteoption`. */
export function importedDeletion({ object, path }: ObjectDocument): ImportedDeletion {
  const policy = textAt(object, 'metadata', 'annotations', orphanAnnotation) === 'true' ? { policy: 'Orphan' } : {};
  const written = textAt(object, 'metadata', 'annotations', optionsAnnotation);
  if (written === undefined) return { deletion: policy, notes: [] };
  const at = fieldPath(`${path}.metadata.annotations`, optionsAnnotation);
  const options = tryParseJson(written);
  if (!isJsonObject(options)) {
    const message = 'expected delete options as JSON, such as {"propagationPolicy": "Foreground"}';
    return { deletion: policy, notes: [warningNote('UNSUPPORTED', at, message)] };
  }
  const cascade = valueAt(options, 'propagationPolicy');
  const isKnown = typeof cascade === 'string' && cascades.includes(cascade);
  const unknown = `expected one of ${cascades.join(', ')}, got ${JSON.stringify(cascade ?? null).slice(0, maxShownCharacters)}`;
  const others = Object.keys(options).filter((key) => key !== 'propagationPolicy');
  return {
    deletion: { ...policy, ...(isKnown ? { cascade } : {}) },
    notes: [
      ...(isKnown || cascade === undefined ? [] : [warningNote('UNSUPPORTED', fieldPath(at, 'propagationPolicy'), unknown)]),
      ...others.map((key) => warningNote('UNSUPPORTED', fieldPath(at, key), `expected the delete option propagationPolicy, got ${key}`)),
    ],
  };
}
