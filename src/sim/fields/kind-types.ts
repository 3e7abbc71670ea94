import { isJsonObject, type JsonObject, parseJsonExactly } from '../../core/json.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { builtInType, unknownType } from './built-in-types.ts';
import { customType } from './custom-types.ts';
import type { FieldType } from './field-types.ts';

const types = new WeakMap<SimKind, Map<string, FieldType>>();
const zeros = new WeakMap<SimKind, JsonObject>();

/** Returns the type of the kind's objects in a version. Default: the storage version. */
export function typeOfKind(kind: SimKind, version: string = kind.versions[0] ?? ''): FieldType {
  const known = types.get(kind) ?? new Map<string, FieldType>();
  types.set(kind, known);
  const type = known.get(version) ?? makeType(kind, version);
  known.set(version, type);
  return type;
}

/** Returns an object of the kind without any values, as Go prints it. For a built-in kind it already contains parts of the spec. */
export function zeroValueOfKind(kind: SimKind): JsonObject {
  const known = zeros.get(kind);
  if (known !== undefined) return known;
  const parsed = parseJsonExactly(`{${kind.zero}}`);
  const zero = { metadata: {}, ...(isJsonObject(parsed) ? parsed : {}) };
  zeros.set(kind, zero);
  return zero;
}

function makeType(kind: SimKind, version: string): FieldType {
  switch (kind.source) {
    case 'builtIn':
      return builtInType(kind);
    case 'custom':
      return customType(kind.schemas[version] ?? {});
    case 'aggregated':
      return unknownType;
    default:
      return kind.source satisfies never;
  }
}
