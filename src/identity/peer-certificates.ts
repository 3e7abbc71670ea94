import { X509Certificate } from 'node:crypto';
import type { ConfiguredProxies } from '../config/config.ts';
import { type Identification, type PeerCertificate, type RequestCredentials, unknownCaller } from './authenticator.ts';
import { identified } from './named-user.ts';

/** The authorities that sign certificates of callers and of proxies. Replaced as a whole when their files change. */
export interface PeerAuthorities {
  readonly clients: readonly X509Certificate[];
  readonly proxies: readonly X509Certificate[];
}

/** Maximum number of certificates between that of a client and its authority. */
const maxIntermediates = 8;

/**
 * Identifies callers by the client certificate of their connection: that of the caller, or that of a proxy that names the caller in headers.
 */
export class PeerCertificates {
  readonly #authorities: () => PeerAuthorities;
  readonly #proxy: ConfiguredProxies | undefined;
  readonly #now: () => number;
  /**
   * Whether each certificate belongs to a caller or a proxy, so that signatures are verified once. Used while `authorities` is the current
   * object.
   */
  readonly #found = new WeakMap<
    PeerCertificate,
    { readonly authorities: PeerAuthorities; readonly isClient: boolean; readonly isProxy: boolean }
  >();

  constructor(options: {
    readonly authorities: () => PeerAuthorities;
    readonly proxy: ConfiguredProxies | undefined;
    readonly now: () => number;
  }) {
    this.#authorities = options.authorities;
    this.#proxy = options.proxy;
    this.#now = options.now;
  }

  /**
   * Returns the caller that the certificate or the proxy names. Undefined if no authority of callers or proxies signed a valid certificate:
   * the token then decides.
   */
  identify({ certificate, headerValues }: RequestCredentials): Identification | undefined {
    if (certificate === undefined || certificate.expiresAtMs <= this.#now()) return undefined;
    const { isClient, isProxy } = this.#signersOf(certificate);
    if (isProxy) return this.#namedByProxy(certificate, headerValues);
    return isClient ? userOfCertificate(certificate) : undefined;
  }

  #signersOf(certificate: PeerCertificate) {
    const authorities = this.#authorities();
    const known = this.#found.get(certificate);
    if (known?.authorities === authorities) return known;
    const chain = certificate.chain.map((der) => new X509Certificate(der));
    const isSigned = (by: readonly X509Certificate[]) => isSignedBy(by, chain, this.#now());
    const [name, ...others] = certificate.commonNames;
    const isAllowed = name !== undefined && others.length === 0 && this.#proxy?.allowedNames.includes(name) === true;
    const found = { authorities, isClient: isSigned(authorities.clients), isProxy: isAllowed && isSigned(authorities.proxies) };
    this.#found.set(certificate, found);
    return found;
  }

  #namedByProxy({ expiresAtMs }: PeerCertificate, headerValues: RequestCredentials['headerValues']): Identification {
    const { userHeader, groupHeader } = this.#proxy ?? {};
    const users = userHeader === undefined ? [] : headerValues(userHeader).map(textOfHeader);
    const [user] = users;
    if (users.length === 0) return unknownCaller('proxy', 'missing');
    if (user === undefined || users.length > 1) return unknownCaller('proxy', 'claims');
    const given = groupHeader === undefined ? [] : headerValues(groupHeader).map(textOfHeader);
    if (given.includes(undefined)) return unknownCaller('proxy', 'claims');
    const groups = given.flatMap((text) => (text ?? '').split(',').map((group) => group.trim())).filter((group) => group !== '');
    return identified({ user, groups, issuer: 'proxy', method: 'proxy', expiresAtMs });
  }
}

/**
 * Returns the user of a client certificate: the common name, with each organization as a group. Both are used without a prefix, as API servers
 * do.
 */
function userOfCertificate({ commonNames: [user, ...others], organizations, expiresAtMs }: PeerCertificate): Identification {
  if (user === undefined || others.length > 0) return unknownCaller('certificate', 'claims');
  return identified({ user, groups: organizations, issuer: 'certificate', method: 'certificate', expiresAtMs });
}

/**
 * True if a chain of valid signatures leads from the first certificate to one of the authorities. The TLS stack has verified the certificate
 * against the authorities of clients and proxies together, so this function finds which of the two it belongs to.
 */
function isSignedBy(authorities: readonly X509Certificate[], [first, ...others]: readonly X509Certificate[], nowMs: number): boolean {
  const isIssuer = (issuer: X509Certificate, of: X509Certificate) =>
    isValidAt(issuer, nowMs) && of.checkIssued(issuer) && of.verify(issuer.publicKey);
  let current = first;
  for (let depth = 0; current !== undefined && depth <= maxIntermediates; depth++) {
    const subject: X509Certificate = current;
    if (authorities.some((authority) => isIssuer(authority, subject))) return true;
    current = others.find((other) => other.ca && other.fingerprint256 !== subject.fingerprint256 && isIssuer(other, subject));
  }
  return false;
}

function isValidAt({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean {
  return validFromDate.getTime() <= nowMs && nowMs < validToDate.getTime();
}

/** Returns the text of a header in UTF-8, without spaces around it. Node reads each byte as one character. Undefined if it is not UTF-8. */
function textOfHeader(value: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1')).trim();
  } catch {
    return undefined;
  }
}
