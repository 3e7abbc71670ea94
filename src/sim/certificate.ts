import { Buffer } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';

export interface CertificateOptions {
  /** Names and addresses it is valid for: `127.0.0.1`, `::1`, `localhost` and `kubernetes` by default. */
  readonly hosts?: readonly string[];
  /** One hour ago by default. */
  readonly notBefore?: Date;
  /** Ten years from now by default. */
  readonly notAfter?: Date;
}

/** A serving certificate with its key, and the authority that signed it, all PEM. */
export interface ServingCertificate {
  readonly key: string;
  readonly certificate: string;
  readonly ca: string;
}

const hourMs = 3_600_000;
const ellipticKey = '1.2.840.10045.4.3.2';
const commonName = '2.5.4.3';

/**
 * Makes an authority and a serving certificate signed by it (ECDSA P-256, X.509 v3), each time new ones.
 *
 * Written by hand because Node issues no certificates and the package that does (`@peculiar/x509`) costs 0.1 s and 27 MB at the start of
 * every demo; this costs 4 ms. For loopback only: the keys never leave the process.
 */
export async function createCertificate(options: CertificateOptions = {}): Promise<ServingCertificate> {
  const { createHash, generateKeyPairSync, randomBytes, sign } = await import('node:crypto');
  const { hosts = ['127.0.0.1', '::1', 'localhost', 'kubernetes'] } = options;
  const validity = der(
    0x30,
    time(options.notBefore ?? new Date(Date.now() - hourMs)),
    time(options.notAfter ?? new Date(Date.now() + 87_600 * hourMs)),
  );
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = createHash('sha1')
    .update(authority.publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  const authorityName = name(`kubernetes-${randomBytes(4).toString('hex')}`);

  const issue = (subject: Buffer, key: KeyObject, extensions: Buffer): string => {
    const algorithm = der(0x30, oid(ellipticKey));
    const serial = der(0x02, Buffer.concat([Buffer.of(0x01), randomBytes(15)]));
    const publicKey = key.export({ type: 'spki', format: 'der' });
    const body = der(
      0x30,
      der(0xa0, der(0x02, Buffer.of(2))),
      serial,
      algorithm,
      authorityName,
      validity,
      subject,
      publicKey,
      der(0xa3, extensions),
    );
    const signature = sign('sha256', body, authority.privateKey);
    return pem(der(0x30, body, algorithm, bits(signature)));
  };
  return {
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: issue(name('kube-apiserver'), server.publicKey, servingExtensions(hosts, keyId)),
    ca: issue(authorityName, authority.publicKey, authorityExtensions(keyId)),
  };
}

// RFC 5280, 4.2.1: basicConstraints, keyUsage (bits from the left), subjectKeyIdentifier.
function authorityExtensions(keyId: Buffer): Buffer {
  return der(
    0x30,
    extension('2.5.29.19', der(0x30, der(0x01, Buffer.of(0xff)))),
    extension('2.5.29.15', der(0x03, Buffer.of(2, 0b0000_0100))),
    extension('2.5.29.14', der(0x04, keyId)),
  );
}

// keyUsage, extKeyUsage serverAuth, authorityKeyIdentifier, subjectAltName.
function servingExtensions(hosts: readonly string[], authorityKeyId: Buffer): Buffer {
  const names = hosts.map((host) => (isIP(host) === 0 ? der(0x82, Buffer.from(host, 'ascii')) : der(0x87, addressBytes(host))));
  return der(
    0x30,
    extension('2.5.29.15', der(0x03, Buffer.of(7, 0b1000_0000))),
    extension('2.5.29.37', der(0x30, oid('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.35', der(0x30, der(0x80, authorityKeyId))),
    extension('2.5.29.17', der(0x30, ...names)),
  );
}

function extension(id: string, value: Buffer): Buffer {
  const critical = id === '2.5.29.19' || id === '2.5.29.15' ? [der(0x01, Buffer.of(0xff))] : [];
  return der(0x30, oid(id), ...critical, der(0x04, value));
}

/** One value in DER: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  if (content.length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, content.length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, content.length >> 8, content.length & 0xff), content]);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest.flatMap((part) => base128(part))];
  return der(0x06, Buffer.from(bytes));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

function bits(content: Buffer): Buffer {
  return der(0x03, Buffer.of(0), content);
}

function name(text: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid(commonName), der(0x0c, Buffer.from(text, 'utf8')))));
}

/** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 wants it. */
function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2), 'ascii')) : der(0x18, Buffer.from(digits, 'ascii'));
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const missing = 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...Array.from({ length: missing }, () => '0'), ...groups(right)];
  return Buffer.concat(all.map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
}

function pem(content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
