import { list, printDocument, readDocument, structure, translated } from '../../core/documents.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import type { OldValues } from '../copies/copies.ts';
import { anyObject, anyText, clusterText, flag, keyFields, withKey } from '../spec/values.ts';
import type { Manifest } from '../spec.ts';

const oldValues = translated(
  structure({
    cluster: clusterText,
    ...keyFields,
    uid: anyText,
    values: anyObject,
    owners: list(anyObject, { max: 100 }).exactOptional(),
    whole: flag.exactOptional(),
  }),
  {
    decode(flat, tell): OldValues | undefined {
      const [key, { values, ...rest }] = withKey(flat);
      return isManifest(values) ? { key, values, ...rest } : tell('expected a manifest', 'values');
    },
    encode: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

/** What an object held, as it is kept with a revision. */
export function printOldValues(values: OldValues): Json {
  return printDocument(oldValues, values);
}

/** Undefined for a value that `printOldValues` did not make. */
export function parseOldValues(value: Json): OldValues | undefined {
  const read = readDocument(oldValues, value);
  return 'problems' in read ? undefined : read.value;
}

function isManifest(values: JsonObject): values is Manifest {
  return [['apiVersion'], ['kind'], ['metadata', 'name']].every((path) => textAt(values, ...path) !== undefined);
}
