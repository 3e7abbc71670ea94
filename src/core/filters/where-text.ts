import { MusterError } from '../errors.ts';
import { type JsonObject, parseJsonOrText } from '../json.ts';

/** Help text for `--where` and `--sort-by`. */
export const whereHelp = `
--where takes conditions. The value is parsed as JSON, else as text; for names,
labels, annotations and data it is always text:
  spec.replicas>3     greater; also = != >= < <=
  metadata.name~web   contains; ^= starts with
  spec.nodeName       is set; !spec.nodeName is not set
  phase=Pending       the column STATUS of Pods; of Jobs: phase=FAILED
or JSON of the input type Where of the schema. A path names fields of the
schema, including computed ones (phase, restarts, requests.cpu),
cluster.region, and metadata.labels["a.b/c"]. A path through a list matches any
element.
--sort-by sorts in ascending order, as kubectl does. It also takes kubectl's
notation of a path: {.metadata.name}.`;

/** Each operator sign with its member of the input `Where`. A longer sign precedes its own prefix. */
const signs: readonly (readonly [sign: string, member: string])[] = [
  ['!=', 'ne'],
  ['>=', 'gte'],
  ['<=', 'lte'],
  ['^=', 'startsWith'],
  ['==', 'eq'],
  ['=', 'eq'],
  ['>', 'gt'],
  ['<', 'lt'],
  ['~', 'contains'],
];

// A path ends where a sign begins. Signs inside brackets or quotes belong to the path.
const condition = /^(!?)((?:[^[\]=!<>~^"']|\["(?:[^"\\]|\\.)*"\]|\['[^']*'\]|\[\*\])+)(.*)$/s;

/** Paths whose values are always text: a label `true` or a name `123` is not parsed as JSON. */
const alwaysText = /^(?:owner\.|node\.)?(?:metadata\.(?:labels|annotations)[.[]|(?:metadata|cluster)\.(?:name|namespace|uid)$|data[.[])/;

/** Parses a condition such as `spec.replicas>3`, or JSON of the input `Where`. @throws {MusterError} `BAD_INPUT` if the text is neither. */
export function parseWhere(text: string): JsonObject {
  if (/^\s*\{(?!\.)/.test(text)) return jsonWhere(text);
  const [, not, path, rest = ''] = condition.exec(text.trim()) ?? [];
  if (path === undefined) throw expected(text);
  const place = { path: schemaPath(path) };
  if (rest === '') return { ...place, exists: not === '' };
  const [sign, member] = signs.find(([one]) => rest.startsWith(one)) ?? [];
  if (sign === undefined || member === undefined || not !== '') throw expected(text);
  const written = rest.slice(sign.length).trim();
  const read = parseJsonOrText(written);
  const isText = member === 'contains' || member === 'startsWith' || alwaysText.test(place.path);
  const value = isText && typeof read !== 'string' ? written : read;
  if (value === null) throw new MusterError('BAD_INPUT', `Expected ${place.path} or !${place.path}: null cannot be compared.`);
  return { ...place, [member]: value };
}

/** Combines conditions that must all hold. Null if there are none. */
export function allConditions(conditions: readonly JsonObject[] = []): JsonObject | null {
  const [first, ...others] = conditions;
  return first === undefined ? null : others.length === 0 ? first : { and: conditions };
}

/**
 * Converts a kubectl path to a path of the schema. `{.metadata.labels.a\.b}` becomes `metadata.labels["a.b"]`. `[*]` is dropped, because a
 * path through a list already matches any element.
 */
export function schemaPath(text: string): string {
  const bare = text
    .trim()
    .replace(/^\{(.*)\}$/s, '$1')
    .trim()
    .replace(/^\./, '')
    .replaceAll('[*]', '');
  return bare.replaceAll(
    /(^|\.)((?:[^.[\]\\]|\\.)*\\\.(?:[^.[\]\\]|\\.)*)/g,
    (_, _dot, segment) => `["${segment.replaceAll(/\\(.)/g, '$1')}"]`,
  );
}

function jsonWhere(text: string): JsonObject {
  const value = parseJsonOrText(text.trim());
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new MusterError('BAD_INPUT', 'Expected JSON of the input type Where, such as {"path": "spec.replicas", "gt": 3}.');
}

function expected(text: string): MusterError {
  return new MusterError('BAD_INPUT', `Expected a condition such as spec.replicas>3, got ${JSON.stringify(text.slice(0, 80))}.`);
}
