import { type Json, parseJsonExactly } from '../../../src/core/json.ts';
import { parseResourceVersion, type ResourceVersion } from '../../../src/core/names.ts';
import { isKubernetesObject, type KubernetesObject } from '../../../src/core/objects.ts';
import type { ExactParse, FeedReader, StoreEvent, StoreReader, StoreWriter } from '../../../src/store/mirror-store.ts';

/** Makes a version of this text. */
export function versionOf(text: string | number): ResourceVersion {
  const version = parseResourceVersion(String(text));
  if (version === undefined) throw new Error(`no version: ${text}`);
  return version;
}

export interface ObjectSketch {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly version?: string | number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, Json>>;
  readonly spec?: Json;
  readonly status?: Json;
}

/** Makes an object by parsing text, so that it shares nothing with others. Default: namespace `default`, and a uid made of its key. */
export function objectOf(sketch: ObjectSketch): KubernetesObject {
  const { name, namespace = 'default', uid = `${namespace}-${name}`, version, labels, metadata, spec, status } = sketch;
  return parseObject(
    JSON.stringify({
      metadata: {
        name,
        ...(namespace === '' ? {} : { namespace }),
        ...(uid === '' ? {} : { uid }),
        ...(version === undefined ? {} : { resourceVersion: String(version) }),
        ...(labels === undefined ? {} : { labels }),
        ...metadata,
      },
      ...(spec === undefined ? {} : { spec }),
      ...(status === undefined ? {} : { status }),
    }),
  );
}

/** Parses an object as a mirror does. */
export function parseObject(text: string): KubernetesObject {
  const value = JSON.parse(text) as Json;
  if (!isKubernetesObject(value)) throw new Error(`no object: ${text}`);
  return value;
}

/** Parses the text exactly. */
export function exactly(text: string): ExactParse {
  return () => {
    const value = parseJsonExactly(text);
    if (!isKubernetesObject(value)) throw new Error(`no object: ${text}`);
    return value;
  };
}

/** An exact parse for objects that need none. It throws. */
export const neverAsked: ExactParse = () => {
  throw new Error('the exact parse was asked for without need');
};

/** Replaces all objects, as a list of that version does. */
export function listInto(store: StoreWriter, objects: readonly KubernetesObject[], version: string | number = 1): void {
  const stage = store.replace();
  for (const object of objects) stage.add(object, neverAsked);
  stage.commit(versionOf(version));
}

/** Freezes the value at all depths. */
export function deepFreeze<T>(value: T): T {
  const rest: unknown[] = [value];
  for (let next = rest.pop(); rest.length > 0 || next !== undefined; next = rest.pop()) {
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    rest.push(...Object.values(next));
  }
  return value;
}

/** Returns `namespace/name@version` of all objects, in order. */
export function contentsOf(store: StoreReader): readonly string[] {
  return [...store.objects()].map(printObject).sort();
}

function printObject({ metadata: { namespace = '', name, resourceVersion = '' } }: KubernetesObject): string {
  return `${namespace}/${name}@${resourceVersion}`;
}

/** Prints an event as one line, for comparisons. */
export function printEvent(event: StoreEvent): string {
  switch (event.type) {
    case 'applied': {
      const before = event.before === undefined ? '' : ` was @${event.before.metadata.resourceVersion ?? ''}`;
      return `applied ${printObject(event.object)}${before}`;
    }
    case 'deleted':
      return `deleted ${printObject(event.object)} by ${event.proof}`;
    case 'reset':
      return `reset to ${event.snapshot.length}`;
    case 'failed':
    case 'gone':
      return `${event.type} ${event.fault.code}`;
    default:
      return event.type;
  }
}

/** Creates a reader that records its events, batch by batch. */
export function recorder(): { readonly reader: FeedReader; readonly batches: (readonly StoreEvent[])[]; lines(): readonly string[] } {
  const batches: (readonly StoreEvent[])[] = [];
  return {
    reader: (events) => {
      batches.push(events);
    },
    batches,
    lines: () => batches.flat().map(printEvent),
  };
}
