import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { type ClusterFailure, clusterFailure } from '../../cluster/cluster-failure.ts';
import type { Endpoint, ExecPlugin } from '../../cluster/endpoint.ts';
import { isForbiddenAddress } from '../../cluster/transport/public-addresses.ts';

/** How to reach a cluster that a registration or an inventory describes. All values are checked. It holds secrets and is never logged. */
export type CheckedEndpoint = Omit<Endpoint, 'name' | 'impersonation' | 'proxyUrl' | 'compression'>;

/** A value with its path in the document, such as `users[0].user.token`. Messages show the path. */
export interface LocatedValue<T> {
  readonly value: T;
  readonly where: string;
}

/** The values from which a `CheckedEndpoint` is made. Certificates and keys are in PEM. Undefined: the document does not have the value. */
export interface EndpointParts {
  readonly server: LocatedValue<string>;
  readonly authority?: LocatedValue<Uint8Array> | undefined;
  readonly tlsServerName?: string | undefined;
  readonly token?: LocatedValue<string> | undefined;
  readonly certificate?: LocatedValue<Uint8Array> | undefined;
  readonly key?: LocatedValue<Uint8Array> | undefined;
  /** A plugin of the config that gives the credentials. With a plugin, token and certificate are not needed. */
  readonly plugin?: ExecPlugin | undefined;
  /** The path in the document that messages about missing or incomplete credentials show. */
  readonly credentialsPath: string;
  readonly namespace?: string | undefined;
}

/** The error for an invalid value in a document. It is thrown and caught only in `src/inventories`. */
export class InvalidValueError extends Error {
  override readonly name = 'InvalidValueError';
  readonly failure: ClusterFailure;

  /** @param expected The expected value at `where`. It must not contain the actual value, which may be a secret. */
  constructor(where: string, expected: string) {
    const failure = clusterFailure('INVALID', `${where}: expected ${expected}`, 'NEVER');
    super(failure.message);
    this.failure = failure;
  }
}

/** Returns the result of `read`. If it throws a `InvalidValueError`, returns its failure, whose code is `INVALID`. */
export function endpointOrFailure(read: () => CheckedEndpoint): CheckedEndpoint | ClusterFailure {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidValueError) return error.failure;
    throw error;
  }
}

/**
 * Checks the values and returns the endpoint of the cluster.
 *
 * @param allowPrivate Private networks in which the server may be. A server in another private network is refused.
 * @throws {InvalidValueError} if the server is no https URL, has user, query or fragment, or a forbidden address; if a certificate or key cannot be read;
 * if the token has spaces; or if there are no credentials.
 */
export function endpointFrom(parts: EndpointParts, allowPrivate: readonly string[]): CheckedEndpoint {
  const { server, authority, tlsServerName, token, plugin, namespace, credentialsPath } = parts;
  const clientCertificate = certificateOf(parts);
  if (token === undefined && clientCertificate === undefined && plugin === undefined)
    throw new InvalidValueError(credentialsPath, 'a token, or a certificate with its key');
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token.value)) throw new InvalidValueError(token.where, 'a token without spaces');
  return {
    server: serverOf(server, allowPrivate),
    addressRule: { allowPrivate, where: server.where },
    trust: trustIn(authority),
    credentials: plugin === undefined ? tokenOf(token) : { type: 'exec', plugin },
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/**
 * Decodes base64. Line breaks are allowed; a text that is empty, has other characters or lacks padding is refused, as Kubernetes does for bytes in
 * JSON.
 *
 * @throws {InvalidValueError} if the text is no base64.
 */
export function decodeBase64({ value, where }: LocatedValue<string>): Uint8Array {
  const text = value.replaceAll(/[\r\n]/g, '');
  if (text === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw new InvalidValueError(where, 'base64');
  return Buffer.from(text, 'base64');
}

function trustIn(authority: LocatedValue<Uint8Array> | undefined): CheckedEndpoint['trust'] {
  if (authority === undefined) return { type: 'system' };
  firstCertificateIn(authority);
  return { type: 'authority', certificates: { type: 'data', data: authority.value } };
}

function tokenOf(token: LocatedValue<string> | undefined): CheckedEndpoint['credentials'] {
  return token === undefined ? { type: 'none' } : { type: 'token', token: token.value };
}

function serverOf({ value, where }: LocatedValue<string>, allowPrivate: readonly string[]): string {
  const url = URL.parse(value);
  if (url === null || url.protocol !== 'https:') throw new InvalidValueError(where, 'an https URL');
  if (url.username !== '' || url.password !== '' || /[?#]/.test(value))
    throw new InvalidValueError(where, 'an https URL without user, query and fragment');
  if (isForbiddenAddress(url.hostname.replace(/^\[|\]$/g, ''), { allowPrivate, where }))
    throw new InvalidValueError(
      where,
      'an address outside of loopback, link-local and unique local networks, or one that allowPrivate allows',
    );
  return url.href.replace(/\/+$/, '');
}

function certificateOf({ certificate, key, credentialsPath }: EndpointParts): CheckedEndpoint['clientCertificate'] {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined)
    throw new InvalidValueError(credentialsPath, 'a client certificate together with its key');
  const privateKey = privateKeyIn(key);
  if (!firstCertificateIn(certificate).checkPrivateKey(privateKey))
    throw new InvalidValueError(key.where, 'the key of the client certificate');
  return { certificate: { type: 'data', data: certificate.value }, key: { type: 'data', data: key.value } };
}

function privateKeyIn({ value, where }: LocatedValue<Uint8Array>): KeyObject {
  try {
    return createPrivateKey(Buffer.from(value));
  } catch {
    throw new InvalidValueError(where, 'a private key in PEM, not encrypted');
  }
}

/** Returns the first certificate of PEM. Refuses DER, which `X509Certificate` can read and TLS cannot. */
function firstCertificateIn({ value, where }: LocatedValue<Uint8Array>): X509Certificate {
  try {
    if (Buffer.from(value).includes('-----BEGIN ')) return new X509Certificate(value);
  } catch {
    // The message of this error would not help the author of the certificate.
  }
  throw new InvalidValueError(where, 'certificates in PEM');
}
