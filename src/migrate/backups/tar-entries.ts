/** Reports that an archive is not a usable tar.gz of a backup. The message is for users. Only this folder throws and catches it. */
export class MalformedArchive extends Error {
  override readonly name = 'MalformedArchive';
}

/** One file of an archive. */
interface TarFile {
  /** The path with `/`, without a leading `./`. It is relative and has no `..`. */
  readonly name: string;
  readonly bytes: Buffer;
}

interface TarOptions {
  /** True for files whose content is returned. The content of other files is skipped. */
  readonly wants: (name: string) => boolean;
  /** Maximum bytes of a file that is returned. */
  readonly maxFileBytes: number;
}

const blockBytes = 512;

/** Maximum bytes of the extra headers of one file (pax, or a long name of GNU tar). They are in memory as a whole. */
const maxExtraBytes = 64 << 10;

/**
 * Reads the wanted files of a tar archive in their order (POSIX ustar and pax, and long names of GNU tar), one file in memory at a time.
 *
 * A small reader of our own, because libraries such as tar-stream keep extra headers of any size in memory, and leave out entries that we
 * must refuse.
 *
 * @throws {MalformedArchive} for a link, a device, an absolute name or `..` anywhere, a file above `maxFileBytes`, a wrong checksum, and an
 * archive that is cut off or has data after its end.
 */
export async function* readTarFiles(
  chunks: AsyncIterable<Buffer>,
  { wants, maxFileBytes }: TarOptions,
): AsyncGenerator<TarFile, void, undefined> {
  const bytes = new ByteCursor(chunks);
  let extra: ExtraHeaders = {};
  for (;;) {
    const block = await bytes.take(blockBytes);
    if (isZero(block)) break;
    const header = readHeader(block, extra);
    const padding = (blockBytes - (header.size % blockBytes)) % blockBytes;
    if (header.type === 'extra') {
      if (header.size > maxExtraBytes) throw new MalformedArchive(`expected headers of at most ${maxExtraBytes} bytes`);
      extra = { ...extra, ...readExtra(header.format, await bytes.take(header.size)) };
      await bytes.skip(padding);
      continue;
    }
    extra = {};
    const name = safeName(header.name);
    if (header.type === 'file' && wants(name)) {
      if (header.size > maxFileBytes) throw new MalformedArchive(`expected files of at most ${maxFileBytes} bytes, got ${header.size}`);
      yield { name, bytes: await bytes.take(header.size) };
      await bytes.skip(padding);
    } else {
      await bytes.skip(header.size + padding);
    }
  }
  await bytes.expectZeros();
}

/** Headers before an entry that replace fields of it. */
interface ExtraHeaders {
  readonly name?: string;
  readonly size?: number;
}

type TarHeader =
  | { readonly type: 'file' | 'folder'; readonly name: string; readonly size: number }
  /** Headers for the next entry: pax, pax for all further entries, or the long name of GNU tar. */
  | { readonly type: 'extra'; readonly format: 'x' | 'g' | 'L'; readonly size: number };

function readHeader(block: Buffer, extra: ExtraHeaders): TarHeader {
  if (!hasChecksum(block)) throw new MalformedArchive('expected a tar archive, got a block with a wrong checksum');
  const size = numberIn(block.subarray(124, 136));
  const flag = String.fromCharCode(block[156] ?? 0);
  const name = extra.name ?? nameIn(block);
  switch (flag) {
    case 'x':
    case 'g':
    case 'L':
      return { type: 'extra', format: flag, size };
    case '0':
    case '7':
    case '\0':
      // Archives older than POSIX mark a folder by the slash at the end of its name.
      return name.endsWith('/') ? folder(name, extra.size ?? size) : { type: 'file', name, size: extra.size ?? size };
    case '5':
      return folder(name, extra.size ?? size);
    case '1':
    case '2':
    case 'K':
      throw new MalformedArchive('expected files and folders only, got a link');
    default:
      throw new MalformedArchive(`expected files and folders only, got an entry of type ${JSON.stringify(flag)}`);
  }
}

function folder(name: string, size: number): TarHeader {
  if (size !== 0) throw new MalformedArchive('expected a folder without content');
  return { type: 'folder', name, size };
}

/** Returns the name in a header. Only ustar has a prefix of the name: other formats use these bytes in another way. */
function nameIn(block: Buffer): string {
  const name = textIn(block.subarray(0, 100));
  const prefix = block.subarray(257, 263).equals(Buffer.from('ustar\0')) ? textIn(block.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** The pax records that replace the name or the size of an entry. They are allowed for a single entry, but not for all further entries. */
const entryRecords = ['path', 'size'];

function readExtra(format: 'x' | 'g' | 'L', content: Buffer): ExtraHeaders {
  if (format === 'L') return { name: textIn(content) };
  const records = readPaxRecords(content);
  const keys = [...records.keys()];
  if (keys.some((key) => key === 'linkpath')) throw new MalformedArchive('expected files and folders only, got a link');
  if (keys.some((key) => key.startsWith('GNU.sparse.'))) throw new MalformedArchive('expected no sparse files');
  if (format === 'g') {
    if (keys.some((key) => entryRecords.includes(key)))
      throw new MalformedArchive('expected no path and no size in a pax header for all files');
    return {};
  }
  const name = records.get('path');
  const size = records.get('size');
  if (size !== undefined && !/^\d{1,15}$/.test(size)) throw new MalformedArchive('expected a size in digits');
  return { ...(name === undefined ? {} : { name }), ...(size === undefined ? {} : { size: Number(size) }) };
}

/** Reads pax records, each `LENGTH KEY=VALUE` and a line feed. The length includes all bytes of the record. */
function readPaxRecords(content: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(' ', at);
    const digits = space === -1 ? '' : content.toString('latin1', at, space);
    const end = /^\d{1,9}$/.test(digits) ? at + Number(digits) : 0;
    const record = content.toString('utf8', space + 1, end - 1);
    const equals = record.indexOf('=');
    if (end <= space + 1 || end > content.length || content[end - 1] !== 0x0a || equals < 1)
      throw new MalformedArchive('expected pax records of the form LENGTH KEY=VALUE');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at = end;
  }
  return records;
}

/** Returns a name without leading `./`. A backslash counts as a separator, because Windows treats it as one. */
function safeName(name: string): string {
  const segments = name.split(/[/\\]/);
  if (name.includes('\0') || /^([/\\]|[A-Za-z]:)/.test(name) || segments.includes('..'))
    throw new MalformedArchive('expected relative names without `..`');
  return name.replace(/^(\.\/+)+/, '');
}

function textIn(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? field.length : end);
}

/** Reads a number: octal digits, or a binary number of GNU tar whose first bit is set. */
function numberIn(field: Buffer): number {
  const [first = 0] = field;
  if (first === 0x80) {
    const number = BigInt(`0x${field.subarray(1).toString('hex')}`);
    if (number <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(number);
  }
  const digits = /^ *([0-7]{1,11})[ \0]*$/.exec(field.toString('latin1'))?.[1];
  if (digits === undefined) throw new MalformedArchive('expected a size in octal digits');
  return Number.parseInt(digits, 8);
}

/** True if the checksum of a header is right: it is the sum of all bytes of the header, with spaces in place of the checksum. */
function hasChecksum(block: Buffer): boolean {
  const digits = /^ *([0-7]{1,7})[ \0]*$/.exec(block.toString('latin1', 148, 156))?.[1];
  let sum = 8 * 0x20;
  for (const [at, byte] of block.entries()) if (at < 148 || at >= 156) sum += byte;
  return digits !== undefined && Number.parseInt(digits, 8) === sum;
}

function isZero(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** Reads a stream of chunks in pieces of other sizes. */
class ByteCursor {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns the next bytes. @throws {MalformedArchive} if there are fewer. */
  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let missing = length; missing > 0; ) {
      const piece = await this.#next(missing);
      pieces.push(piece);
      missing -= piece.length;
    }
    return pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces);
  }

  /** Drops the next bytes. @throws {MalformedArchive} if there are fewer. */
  async skip(length: number): Promise<void> {
    for (let missing = length; missing > 0; ) missing -= (await this.#next(missing)).length;
  }

  /** Reads to the end. @throws {MalformedArchive} if a byte is not 0. */
  async expectZeros(): Promise<void> {
    do {
      if (!isZero(this.#rest)) throw new MalformedArchive('expected no data after the end of the archive');
    } while (await this.#fill());
  }

  async #next(max: number): Promise<Buffer> {
    while (this.#rest.length === 0) if (!(await this.#fill())) throw new MalformedArchive('the archive is cut off');
    const piece = this.#rest.subarray(0, max);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    this.#rest = done === true ? Buffer.alloc(0) : value;
    return done !== true;
  }
}
