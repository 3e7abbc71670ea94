import { LRUCache } from 'lru-cache';

/** Texts longer than this are parsed anew each time: 64 KiB of characters. */
const maxTextLength = 64 << 10;

/** A parsed document takes about this much per character of its text: 19 kB for 270. */
const bytesPerCharacter = 70;

/** A cache in the shape that Yoga asks for. */
export interface TextCache<T> {
  get(text: string): T | undefined;
  set(text: string, value: T): void;
}

/** Parsed documents by their text: at most 1,024 and 64 MiB. */
export function createDocumentCache<T extends object>(): TextCache<T> {
  return boundedCache({ max: 1024, maxSize: 64 << 20, sizeOf: (text) => Math.max(1, text.length * bytesPerCharacter) });
}

/** Parse errors by the text that caused them: at most 256 and 4 MiB. */
export function createErrorCache(): TextCache<Error> {
  return boundedCache({ max: 256, maxSize: 4 << 20, sizeOf: (text) => Math.max(1, text.length * 2) });
}

interface Bounds {
  readonly max: number;
  /** Bytes. */
  readonly maxSize: number;
  readonly sizeOf: (text: string) => number;
}

function boundedCache<T extends object>({ max, maxSize, sizeOf }: Bounds): TextCache<T> {
  const cache = new LRUCache<string, T>({ max, maxSize, sizeCalculation: (_, text) => sizeOf(text) });
  return {
    get: (text) => cache.get(text),
    set: (text, value) => {
      if (text.length <= maxTextLength) cache.set(text, value);
    },
  };
}
