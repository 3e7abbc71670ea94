import { isUtf8 } from 'node:buffer';
import { isJsonObject, tryParseJson } from '../../core/json.ts';
import { parseResourceVersion, type ResourceVersion } from '../../core/names.ts';
import { type Framer, type FramingResult, maxFrameBytes } from './frames.ts';
import { createGrowingBytes } from './growing-bytes.ts';
import { createJsonNesting } from './nesting.ts';

/** The metadata of a page. Built-in kinds have it before the items, custom resources after them. */
export interface ListPageEnd {
  readonly version?: ResourceVersion;
  readonly continue?: string;
  readonly remaining?: number;
}

/** Splits one page of a list into the bytes of its items, and collects all other bytes. */
export interface ListFramer extends Framer {
  /**
   * Returns the metadata of the page after all bytes were pushed. Undefined if they were not one whole list: cut off, a Table, or not
   * JSON.
   */
  end(): ListPageEnd | undefined;
}

/** The depth of brackets between items: `{ "items": [`. */
const itemsDepth = 2;
const aroundItems = { floor: 0, arrayAt: itemsDepth - 1 };
const withinItem = { floor: itemsDepth, arrayAt: -1 };

/**
 * Creates a framer that splits a list into items by counting brackets, chunk by chunk. It does not parse, and it copies only items that
 * span several chunks.
 *
 * `broken` is `TOO_LARGE` if one item, or all bytes outside of items together, are more than `maxBytes`. It is `MALFORMED` if an item is
 * not an object.
 */
export function createListFramer(maxBytes = maxFrameBytes): ListFramer {
  const around = createGrowingBytes(maxBytes);
  const item = createGrowingBytes(maxBytes);
  const nesting = createJsonNesting();
  let place: 'around' | 'between' | 'within' | 'done' = 'around';

  const passItem = (chunk: Uint8Array, from: number, frames: Uint8Array[]): number => {
    const at = nesting.scan(chunk, from, withinItem);
    const ended = nesting.depth === itemsDepth;
    if (ended && item.length === 0 && at - from <= maxBytes) frames.push(chunk.subarray(from, at));
    else if (!item.append(chunk, from, at)) return -1;
    else if (ended) frames.push(item.takeAll());
    if (ended) place = 'between';
    return at;
  };

  const passAround = (chunk: Uint8Array, from: number): number => {
    const at = place === 'done' ? chunk.length : nesting.scan(chunk, from, aroundItems);
    if (!around.append(chunk, from, at)) return -1;
    if (nesting.depth === itemsDepth && endsWithItems(around.tail(64))) place = 'between';
    else if (nesting.depth <= 0) place = 'done';
    return at;
  };

  const push = (chunk: Uint8Array): FramingResult => {
    const frames: Uint8Array[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (place === 'between') {
        at = pastSeparators(chunk, at);
        if (at === chunk.length) break;
        if (chunk[at] !== 0x7b && chunk[at] !== 0x5d) return { frames, broken: 'MALFORMED' };
        place = chunk[at] === 0x7b ? 'within' : 'around';
      }
      at = place === 'within' ? passItem(chunk, at, frames) : passAround(chunk, at);
      if (at < 0) return { frames, broken: 'TOO_LARGE' };
    }
    return { frames };
  };
  return { push, end: () => (place === 'done' ? pageEndIn(around.takeAll()) : undefined) };
}

/** True if the array that has just opened is the value of `items`. A colon cannot follow a string value, so `"items"` is a key here. */
function endsWithItems(tail: Buffer): boolean {
  return tail.at(-1) === 0x5b && /"items"\s*:\s*\[$/.test(tail.toString('latin1'));
}

function pastSeparators(chunk: Uint8Array, from: number): number {
  let at = from;
  while (at < chunk.length && ((chunk[at] ?? 0) <= 0x20 || chunk[at] === 0x2c)) at++;
  return at;
}

function pageEndIn(bytes: Buffer): ListPageEnd | undefined {
  const list = isUtf8(bytes) ? tryParseJson(bytes.toString('utf8')) : undefined;
  if (!isJsonObject(list) || typeof list.kind !== 'string' || !list.kind.endsWith('List')) return undefined;
  if (!Array.isArray(list.items) && list.items !== null) return undefined;
  const metadata = isJsonObject(list.metadata) ? list.metadata : {};
  const version = parseResourceVersion(metadata.resourceVersion);
  const { continue: token, remainingItemCount: remaining } = metadata;
  return {
    ...(version === undefined ? {} : { version }),
    ...(typeof token === 'string' && token !== '' ? { continue: token } : {}),
    ...(typeof remaining === 'number' ? { remaining } : {}),
  };
}
