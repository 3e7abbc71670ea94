import type { Json, JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import type { OldValues } from '../copies/copies.ts';
import type { SpecProblem } from '../propagation.ts';
import { anyObject, below, type Codec, list, mapped, optional, record, required, tell } from '../spec/codec.ts';
import { keyFields, withKey } from '../spec/flat-key.ts';
import { anyText, clusterText, flag } from '../spec/texts.ts';
import type { Manifest } from '../spec.ts';

const oldValues: Codec<OldValues> = mapped(
  record({
    cluster: required(clusterText),
    ...keyFields,
    uid: required(anyText),
    values: required(anyObject),
    owners: optional(list(anyObject, { max: 100 })),
    whole: optional(flag),
  }),
  {
    to(flat, place): OldValues | undefined {
      const [key, { values, ...rest }] = withKey(flat);
      return isManifest(values) ? { key, values, ...rest } : tell(below(place, 'values'), 'expected a manifest');
    },
    from: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

/** What an object held, as it is kept with a revision. */
export function printOldValues(values: OldValues): Json {
  return oldValues.print(values);
}

/** Undefined for what `printOldValues` did not make. */
export function parseOldValues(value: Json): OldValues | undefined {
  const problems: SpecProblem[] = [];
  return oldValues.read(value, { path: '', problems });
}

function isManifest(values: JsonObject): values is Manifest {
  return [['apiVersion'], ['kind'], ['metadata', 'name']].every((path) => textAt(values, ...path) !== undefined);
}
