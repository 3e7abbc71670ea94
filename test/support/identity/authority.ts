import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';

/** An authority for TLS in tests. Certificates and keys are PEM. */
export interface Authority {
  /** Its own certificate. */
  readonly ca: string;
  /** Makes a certificate for a common name and organizations; for a server also its hosts. It ends after `seconds`. Default: a day. */
  issue(subject: CertificateSubject): { readonly cert: string; readonly key: string };
}

interface CertificateSubject {
  readonly cn: string;
  readonly groups?: readonly string[];
  readonly hosts?: readonly string[];
  readonly seconds?: number;
}

export function createAuthority(name: string): Authority {
  const own = keyPair();
  const ca = certificate({ cn: name, issuer: name, key: own.publicKey, signer: own.privateKey, isAuthority: true });
  return {
    ca,
    issue(subject) {
      const { publicKey, privateKey } = keyPair();
      const cert = certificate({ ...subject, issuer: name, key: publicKey, signer: own.privateKey, isAuthority: false });
      return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}

function keyPair() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

interface CertificateFields extends CertificateSubject {
  readonly issuer: string;
  readonly key: KeyObject;
  readonly signer: KeyObject;
  readonly isAuthority: boolean;
}

/** An element in DER. */
function der(tag: number, ...parts: readonly (Uint8Array | string | readonly number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part as Uint8Array))));
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const oid = (hex: string) => der(6, Buffer.from(hex, 'hex'));
const ecdsaWithSha256 = der(0x30, oid('2a8648ce3d040302'));

function nameOf(cn: string, groups: readonly string[] = []): Buffer {
  const attribute = (id: string, text: string) => der(0x31, der(0x30, oid(id), der(12, text)));
  return der(0x30, ...groups.map((group) => attribute('55040a', group)), attribute('550403', cn));
}

function extensionsOf({ hosts = [], isAuthority }: CertificateFields): readonly Buffer[] {
  const extension = (id: string, value: Buffer) => der(0x30, oid(id), ...(isAuthority ? [der(1, [0xff])] : []), der(4, value));
  const alternative = (host: string) => (/^[\d.]+$/.test(host) ? der(0x87, host.split('.').map(Number)) : der(0x82, host));
  return [
    ...(isAuthority ? [extension('551d13', der(0x30, der(1, [0xff])))] : []),
    ...(hosts.length === 0 ? [] : [extension('551d11', der(0x30, ...hosts.map(alternative)))]),
  ];
}

function certificate(fields: CertificateFields): string {
  const { cn, groups, issuer, key, signer, seconds = 86_400 } = fields;
  const time = (ms: number) =>
    der(
      0x17,
      new Date(ms)
        .toISOString()
        .slice(2)
        .replace(/[-:T]|\.\d+/g, ''),
    );
  const serial = randomBytes(8);
  serial.writeUInt8((serial.readUInt8(0) & 0x3f) | 0x40);
  const extensions = extensionsOf(fields);
  const signed = der(
    0x30,
    der(0xa0, der(2, [2])),
    der(2, serial),
    ecdsaWithSha256,
    nameOf(issuer),
    der(0x30, time(Date.now() - 3_600_000), time(Date.now() + seconds * 1_000)),
    nameOf(cn, groups),
    key.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, der(0x30, ...extensions))]),
  );
  return new X509Certificate(der(0x30, signed, ecdsaWithSha256, der(3, [0], sign('sha256', signed, signer)))).toString();
}
