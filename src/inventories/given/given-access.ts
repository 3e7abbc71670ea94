import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { type ClusterFailure, clusterFailure } from '../../cluster/cluster-failure.ts';
import type { Endpoint, ExecPlugin } from '../../cluster/endpoint.ts';
import { isForbiddenAddress } from '../../cluster/transport/public-addresses.ts';

/** How to reach a cluster, checked, as a registration or an inventory describes it. It holds secrets and is never logged. */
export type GivenAccess = Omit<Endpoint, 'name' | 'impersonation' | 'proxyUrl' | 'compression'>;

/** A value with its path in the document, such as `users[0].user.token`. Messages show the path. */
export interface LocatedValue<T> {
  readonly value: T;
  readonly where: string;
}

/** The values from which an access is made. Certificates and keys are in PEM. Undefined: the document does not have the value. */
export interface AccessParts {
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

/** A problem of values that a document gives. It is thrown and caught only in `src/inventories`. */
export class GivenProblem extends Error {
  override readonly name = 'GivenProblem';
  readonly failure: ClusterFailure;

  /** @param expected What was expected at `where`. It must not contain the value that came, which may be a secret. */
  constructor(where: string, expected: string) {
    const failure = clusterFailure('INVALID', `${where}: expected ${expected}`, 'NEVER');
    super(failure.message);
    this.failure = failure;
  }
}

/** Returns the result of `read`. If it throws a `GivenProblem`, returns its failure, whose code is `INVALID`. */
export function accessOrProblem(read: () => GivenAccess): GivenAccess | ClusterFailure {
  try {
    return read();
  } catch (error) {
    if (error instanceof GivenProblem) return error.failure;
    throw error;
  }
}

/**
 * Checks the values and makes the access to a cluster from them.
 *
 * @param allowPrivate Private networks in which the server may be. A server in another private network is refused.
 * @throws {GivenProblem} if the server is no https URL, has user, query or fragment, or a forbidden address; if a certificate or key cannot be read;
 * if the token has spaces; or if there are no credentials.
 */
export function accessFrom(parts: AccessParts, allowPrivate: readonly string[]): GivenAccess {
  const { server, authority, tlsServerName, token, plugin, namespace, credentialsPath } = parts;
  const clientCertificate = certificateOf(parts);
  if (token === undefined && clientCertificate === undefined && plugin === undefined)
    throw new GivenProblem(credentialsPath, 'a token, or a certificate with its key');
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token.value)) throw new GivenProblem(token.where, 'a token without spaces');
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
 * @throws {GivenProblem} if the text is no base64.
 */
export function decodeBase64({ value, where }: LocatedValue<string>): Uint8Array {
  const text = value.replaceAll(/[\r\n]/g, '');
  if (text === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw new GivenProblem(where, 'base64');
  return Buffer.from(text, 'base64');
}

function trustIn(authority: LocatedValue<Uint8Array> | undefined): GivenAccess['trust'] {
  if (authority === undefined) return { type: 'system' };
  firstCertificateIn(authority);
  return { type: 'authority', certificates: { type: 'data', data: authority.value } };
}

function tokenOf(token: LocatedValue<string> | undefined): GivenAccess['credentials'] {
  return token === undefined ? { type: 'none' } : { type: 'token', token: token.value };
}

function serverOf({ value, where }: LocatedValue<string>, allowPrivate: readonly string[]): string {
  const url = URL.parse(value);
  if (url === null || url.protocol !== 'https:') throw new GivenProblem(where, 'an https URL');
  if (url.username !== '' || url.password !== '' || /[?#]/.test(value))
    throw new GivenProblem(where, 'an https URL without user, query and fragment');
  if (isForbiddenAddress(url.hostname.replace(/^\[|\]$/g, ''), { allowPrivate, where }))
    throw new GivenProblem(where, 'an address outside of loopback, link-local and unique local networks, or one that allowPrivate allows');
  return url.href.replace(/\/+$/, '');
}

function certificateOf({ certificate, key, credentialsPath }: AccessParts): GivenAccess['clientCertificate'] {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) throw new GivenProblem(credentialsPath, 'a client certificate together with its key');
  const privateKey = privateKeyIn(key);
  if (!firstCertificateIn(certificate).checkPrivateKey(privateKey)) throw new GivenProblem(key.where, 'the key of the client certificate');
  return { certificate: { type: 'data', data: certificate.value }, key: { type: 'data', data: key.value } };
}

function privateKeyIn({ value, where }: LocatedValue<Uint8Array>): KeyObject {
  try {
    return createPrivateKey(Buffer.from(value));
  } catch {
    throw new GivenProblem(where, 'a private key in PEM, not encrypted');
  }
}

/** Returns the first certificate of PEM. Refuses DER, which `X509Certificate` can read and TLS cannot. */
function firstCertificateIn({ value, where }: LocatedValue<Uint8Array>): X509Certificate {
  try {
    if (Buffer.from(value).includes('-----BEGIN ')) return new X509Certificate(value);
  } catch {
    // The message of this error would not help the author of the certificate.
  }
  throw new GivenProblem(where, 'certificates in PEM');
}
