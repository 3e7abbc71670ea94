import { LRUCache } from 'lru-cache';

/** Texts longer than this are parsed anew each time: 64 KiB of characters. */
const maxTextLength = 64 << 10;

/** A parsed document takes about this much per character of its text: 19 kB for 270. */
const bytesPerCharacter = 70;

/** Parsed documents by their text: at most 1,024 and 64 MiB. */
export function createDocumentCache<T extends object>(): LRUCache<string, T> {
  return createTextCache({ max: 1024, maxSize: 64 << 20 }, bytesPerCharacter);
}

/** Parse errors by the text that caused them: at most 256 and 4 MiB. */
export function createErrorCache(): LRUCache<string, Error> {
  return createTextCache({ max: 256, maxSize: 4 << 20 }, 2);
}

function createTextCache<T extends object>(bounds: { readonly max: number; readonly maxSize: number }, bytesPer: number) {
  const sizeCalculation = (_: T, text: string) => Math.max(1, text.length * bytesPer);
  return new LRUCache<string, T>({ ...bounds, maxEntrySize: maxTextLength * bytesPer, sizeCalculation });
}
