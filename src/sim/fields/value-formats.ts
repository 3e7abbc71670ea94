import { isJsonObject, type Json } from '../../core/json.ts';
import { parseQuantity } from '../../core/quantities.ts';
import { type FieldType, itemType, memberType } from './field-types.ts';

/**
 * Returns the error of a Go server for the first text that is an invalid quantity or invalid base64, where the type requires one. Undefined
 * if all texts are valid.
 */
export function firstFormatError(type: FieldType, value: Json | undefined): string | undefined {
  if (typeof value === 'string') return type.type === 'scalar' ? misformed(type.format, value) : undefined;
  const inner: Iterable<readonly [FieldType | undefined, Json | undefined]> = Array.isArray(value)
    ? (value as readonly Json[]).map((item) => [itemType(type), item] as const)
    : isJsonObject(value)
      ? Object.entries(value).map(([key, member]) => [memberType(type, key), member] as const)
      : [];
  for (const [of, member] of inner) {
    const found = of === undefined ? undefined : firstFormatError(of, member);
    if (found !== undefined) return found;
  }
  return undefined;
}

function misformed(format: Extract<FieldType, { readonly type: 'scalar' }>['format'], text: string): string | undefined {
  switch (format) {
    case undefined:
      return undefined;
    case 'quantity':
      return text === '' || parseQuantity(text) !== undefined ? undefined : noQuantity;
    case 'bytes': {
      const at = illegalByteOf(text.replaceAll(/[\r\n]/g, ''));
      return at === undefined ? undefined : `illegal base64 data at input byte ${at}`;
    }
    default:
      return format satisfies never;
  }
}

const noQuantity = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Returns the position of the first invalid character, or of an incomplete last group of four. Undefined if the text is valid base64. */
function illegalByteOf(text: string): number | undefined {
  const at = text.search(/[^A-Za-z0-9+/]/);
  const end = at < 0 ? text.length : at;
  const isPadded = at < 0 || (/^={1,2}$/.test(text.slice(at)) && text.length % 4 === 0);
  if (!isPadded) return at;
  return text.length % 4 === 0 ? undefined : end - (end % 4);
}
