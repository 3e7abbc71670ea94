import type { Caller } from '../access/access.ts';

/**
 * The certificate of the client of a connection. The client has proved that it has the private key. The signatures up to an authority are
 * verified.
 */
export interface PeerCertificate {
  /** The common names of its subject. */
  readonly commonNames: readonly string[];
  /** The organizations of its subject. */
  readonly organizations: readonly string[];
  /** The certificate in DER, then the certificates that signed it, as far as the client sent them. */
  readonly chain: readonly Uint8Array[];
  /** The end of its validity in Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** The facts of a request that can show who sent it. */
export interface RequestCredentials {
  /** The header `Authorization`. In a WebSocket: that of `connection_init`, else that of the upgrade. */
  readonly authorization: string | undefined;
  /** The network of the client, as `networkOf` names it. */
  readonly network: string;
  /** Returns all values of a header, in the order of the request. */
  readonly headerValues: (name: string) => readonly string[];
  /** Undefined: the connection has no certificate of an authority that the gateway knows. */
  readonly certificate: PeerCertificate | undefined;
}

/** An authenticated caller, and the end of the credential. */
export interface CallerSession {
  readonly caller: Caller;
  /** The end of the credential in Unix milliseconds. Undefined: it has no known end. */
  readonly expiresAtMs: number | undefined;
  /**
   * Checks the credential again, for streams that outlive a request. Undefined for a credential that cannot be revoked, only expire. Never
   * throws.
   */
  readonly check: (() => Promise<Identification['result']>) | undefined;
}

/**
 * The kind of a credential, for metrics. `none`: the request has no credential, or not in the form `Bearer TOKEN`. `token`: a bearer token
 * that no issuer or hub has judged.
 */
export type CredentialMethod = 'none' | 'oidc' | 'tokenreview' | 'certificate' | 'proxy' | 'token';

/**
 * The reason for which a credential was refused, for metrics and the log. Clients never learn it. `issuer`: no issuer or hub judges the token.
 * `early`: the token is not valid yet. `claims`: a value is missing or malformed. `name`: a name begins with `system:`. `rejected`: by the
 * hub. `wrong`: not the token of local mode.
 */
export type RefusalReason =
  | 'missing'
  | 'malformed'
  | 'issuer'
  | 'algorithm'
  | 'key'
  | 'signature'
  | 'audience'
  | 'expired'
  | 'early'
  | 'claims'
  | 'name'
  | 'rejected'
  | 'wrong';

/** The result of `Authenticator.identify`: who sent a request. */
export type Identification =
  | { readonly result: 'known'; readonly session: CallerSession }
  | { readonly result: 'unknown'; readonly method: CredentialMethod; readonly reason: RefusalReason }
  /** The credential cannot be checked now, because an issuer or the hub does not answer. `problem` is for the log. */
  | { readonly result: 'unavailable'; readonly method: CredentialMethod; readonly problem: string };

/** Finds out who sent a request. */
export interface Authenticator {
  /** Returns the result at once if no other server has to be asked. Never throws, and takes at most 10 s. */
  identify(credentials: RequestCredentials): Identification | Promise<Identification>;
}

/** Makes the result for a credential that is not accepted. */
export function unknownCaller(method: CredentialMethod, reason: RefusalReason): Identification {
  return { result: 'unknown', method, reason };
}
