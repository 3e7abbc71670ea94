import { gzipSync } from 'node:zlib';

/** One entry of a test archive. The defaults are those of a regular file in ustar. */
export interface TarEntry {
  readonly name: string;
  readonly text?: string;
  /** The type flag: `0` file, `1` hard link, `2` symbolic link, `5` folder, `x` pax header. */
  readonly type?: string;
  readonly link?: string;
  /** The size field as raw text or bytes. Default: the bytes of `text` in octal. */
  readonly size?: string | Buffer;
  /** `ustar\0` and version 00, `ustar  \0` as GNU tar writes, or empty as before POSIX. Default: ustar. */
  readonly magic?: string;
  readonly checksum?: string;
}

/** Returns a `.tar.gz` of these entries, with the two zero blocks at its end. */
export function tarGz(entries: readonly TarEntry[], { end = Buffer.alloc(1024) }: { readonly end?: Buffer } = {}): Buffer {
  return gzipSync(Buffer.concat([...entries.flatMap(blocksOf), end]));
}

/** Returns an entry of type `x` with these pax records. */
export function paxHeader(records: Readonly<Record<string, string>>, type = 'x'): TarEntry {
  const text = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest);
    while (Buffer.byteLength(`${length}${rest}`) !== length) length += 1;
    return `${length}${rest}`;
  });
  return { name: 'PaxHeaders/x', type, text: text.join('') };
}

/** Returns the two files of an object in a backup of Velero. */
export function filesOfObject(object: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly namespace?: string; readonly name: string };
}): readonly TarEntry[] {
  const { apiVersion, kind, metadata } = object;
  const [version = '', group] = apiVersion.split('/').toReversed();
  const folder = `resources/${kind.toLowerCase()}s${group === undefined ? '' : `.${group}`}`;
  const place =
    metadata.namespace === undefined ? `cluster/${metadata.name}.json` : `namespaces/${metadata.namespace}/${metadata.name}.json`;
  const text = JSON.stringify(object);
  return [`${folder}/${place}`, `${folder}/${version}-preferredversion/${place}`].map((name) => ({ name, text }));
}

function blocksOf({ name, text = '', type = '0', link = '', size, magic = 'ustar\u000000', checksum }: TarEntry): readonly Buffer[] {
  const body = Buffer.from(text);
  const header = Buffer.alloc(512);
  const cut = Buffer.byteLength(name) > 100 ? name.lastIndexOf('/', 155) : -1;
  header.write(name.slice(cut + 1), 0);
  header.write(`${octal(0o644, 8)}${octal(0, 8)}${octal(0, 8)}`, 100);
  const sizeField = size ?? octal(body.length, 12);
  Buffer.from(sizeField as string).copy(header, 124);
  header.write(`${octal(0, 12)}${' '.repeat(8)}${type}${link}`, 136);
  header.write(magic, 257);
  if (cut > 0) header.write(name.slice(0, cut), 345);
  header.write(
    checksum ??
      `${octal(
        header.reduce((sum, byte) => sum + byte, 0),
        7,
      )} `,
    148,
  );
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
