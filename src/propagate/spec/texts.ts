import { isJsonObject, type Json } from '../../core/json.ts';
import { parseDuration } from '../../core/json-values.ts';
import { parseClusterName } from '../../core/names.ts';
import { isLabelKey, isLabelValue } from '../../core/selectors.ts';
import { parsePointer } from '../rendering/json-pointer.ts';
import { below, type Codec, checked, type Place, shown, tell } from './codec.ts';
import type { TextFormat } from './shape.ts';

/** The longest text that is no manifest: what etcd and people can bear. */
const maxLength = 4_096;

interface TextRules {
  readonly max?: number;
  readonly check?: (text: string, place: Place) => void;
}

function texts(format: TextFormat | undefined, { max = maxLength, check }: TextRules = {}): Codec<string> {
  const codec: Codec<string> = {
    shape: { type: 'text', format },
    read: (value, place) => (typeof value === 'string' ? value : tell(place, `expected a text, got ${shown(value)}`)),
    print: (value) => value,
  };
  return checked(codec, (text, place) => {
    if (text.length > max) tell(place, `expected at most ${max} characters, got ${text.length}`);
    else check?.(text, place);
  });
}

/** Any text of at most 4,096 characters. */
export const anyText: Codec<string> = texts(undefined);

/** Manifests as YAML: as long as an object can be. */
export const manifestsText: Codec<string> = texts('manifests', { max: 1_500_000 });

/** What is told to people: printed with its first 1,024 characters. */
export const message: Codec<string> = { ...anyText, print: shortened };

/** The first 1,024 characters of a message: what of it a status keeps. */
export function shortened(text: string): string {
  return text.slice(0, 1_024).toWellFormed();
}

/** What somebody calls a part of a spec, such as a wave: 1 to 253 characters. */
export const partName: Codec<string> = texts('name', {
  check: (text, place) => {
    if (text === '' || text.length > 253) tell(place, `expected a name of 1 to 253 characters, got ${shown(text)}`);
  },
});

/** The name of a cluster, a member or not. */
export const clusterText: Codec<string> = texts('cluster', {
  check: (text, place) => {
    if (parseClusterName(text) === undefined) {
      tell(place, `expected a cluster name of 1 to 253 characters without control characters, got ${shown(text)}`);
    }
  },
});

/** A JSON pointer (RFC 6901). */
export const pointer: Codec<string> = texts('pointer', {
  check: (text, place) => {
    if (parsePointer(text) === undefined) tell(place, `expected a JSON pointer such as /spec/replicas, got ${shown(text)}`);
  },
});

/** The key of a label, an annotation or a taint. */
export const labelKey: Codec<string> = texts('key', { check: checkKey });

/** A time as RFC 3339 text. */
export const time: Codec<string> = texts('time', {
  check: (text, place) => {
    const isTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text);
    if (!isTime || Number.isNaN(Date.parse(text))) tell(place, `expected a time such as 2026-01-31T12:00:00Z, got ${shown(text)}`);
  },
});

const maxDurationMs = 100 * 365 * 86_400_000;
const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** `90s`, `10m`, `1h30m` as milliseconds; at most 100 years. Printed in the largest unit that says it exactly. */
export const duration: Codec<number> = {
  shape: { type: 'text', format: 'duration' },
  read(value, place) {
    const isDuration = typeof value === 'string' && /^(?:\d+(?:ms|s|m|h))+$/.test(value);
    const nanoseconds = isDuration ? parseDuration(value) : undefined;
    if (nanoseconds === undefined) return tell(place, `expected a duration such as 90s, 10m or 2h, got ${shown(value)}`);
    const ms = Number(nanoseconds / 1_000_000n);
    return ms <= maxDurationMs ? ms : tell(place, `expected a duration of at most 100 years, got ${shown(value)}`);
  },
  print(ms) {
    const [unit, length] = units.find(([, one]) => ms % one === 0 && ms >= one) ?? (['s', 1_000] as const);
    return `${ms / length}${unit}`;
  },
};

/** True or false. */
export const flag: Codec<boolean> = {
  shape: { type: 'flag' },
  read: (value, place) => (typeof value === 'boolean' ? value : tell(place, `expected true or false, got ${shown(value)}`)),
  print: (value) => value,
};

const largest = 2 ** 31 - 1;

/** A whole number from `min` to 2³¹−1, or to `max`. */
export function integer(min: number, max = largest): Codec<number> {
  return {
    shape: { type: 'integer', min, max },
    read: (value, place) =>
      typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : tell(place, `expected a whole number from ${min} to ${max}, got ${shown(value)}`),
    print: (value) => value,
  };
}

/** A whole number of at least `min`, or a percentage such as `25%`, from 0 (1 where `min` is) to 100. */
export function amount(min: 0 | 1): Codec<number | string> {
  return {
    shape: { type: 'amount', min },
    read(value, place) {
      const isNumber = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= largest;
      const share = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
      if (isNumber) return value;
      if (typeof value === 'string' && share !== undefined && Number(share) >= min && Number(share) <= 100) return `${Number(share)}%`;
      return tell(place, `expected a whole number of at least ${min}, or a percentage from ${min}% to 100%, got ${shown(value)}`);
    },
    print: (value) => value,
  };
}

type TextMap = Readonly<Record<string, string>>;

function textMap(check: (entry: readonly [string, string], place: Place) => void): Codec<TextMap> {
  return {
    shape: { type: 'map' },
    read(value, place) {
      if (!isJsonObject(value)) return tell(place, `expected texts by keys, got ${shown(value)}`);
      const before = place.problems.length;
      const entries = Object.entries(value).map(([key, text]) => readText(key, text ?? null, below(place, key)));
      const read = entries.filter((entry) => entry !== undefined);
      for (const [key, text] of read) check([key, text], below(place, key));
      return place.problems.length > before ? undefined : Object.fromEntries(read);
    },
    // By key: the order they came in says nothing.
    print: (value) => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function readText(key: string, text: Json, place: Place): readonly [string, string] | undefined {
  return typeof text === 'string' ? [key, text] : tell(place, `expected a text, got ${shown(text)}`);
}

/** Labels: keys and values as Kubernetes takes them. */
export const labels: Codec<TextMap> = textMap(([key, text], place) => {
  checkKey(key, place);
  if (!isLabelValue(text)) tell(place, 'expected the value of a label: at most 63 letters, digits, - _ and .');
});

/** Annotations: keys as Kubernetes takes them, any value. */
export const annotations: Codec<TextMap> = textMap(([key], place) => checkKey(key, place));

/** Lists of texts by any key. */
export const textLists: Codec<Readonly<Record<string, readonly string[]>>> = {
  shape: { type: 'lists' },
  read(value, place) {
    if (!isJsonObject(value)) return tell(place, `expected lists of texts by keys, got ${shown(value)}`);
    const isList = (found: Json | undefined): found is readonly string[] =>
      Array.isArray(found) && found.every((one: Json) => typeof one === 'string');
    const wrong = Object.entries(value).find(([, found]) => !isList(found));
    if (wrong !== undefined) return tell(below(place, wrong[0]), 'expected a list of texts');
    return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, readonly string[]] => isList(entry[1])));
  },
  print: (value) => value,
};

function checkKey(text: string, place: Place): void {
  if (!isLabelKey(text)) tell(place, `expected a key such as app or example.com/app, got ${shown(text)}`);
}
