import type { Caller } from '../access/access.ts';

/** The certificate that a client has shown on its connection, and proved to have the key of. Its signatures up to an authority are verified. */
export interface PeerCertificate {
  /** The common names of its subject. */
  readonly commonNames: readonly string[];
  /** The organizations of its subject. */
  readonly organizations: readonly string[];
  /** DER, the certificate itself first, then those that signed it as far as the client sent them. */
  readonly chain: readonly Uint8Array[];
  /** The end of its validity in Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** The facts of a request that can show who sent it. */
export interface RequestCredentials {
  /** The header `Authorization`. In a WebSocket: that of `connection_init`, else that of the upgrade. */
  readonly authorization: string | undefined;
  /** Returns all values of a header, in the order of the request. */
  readonly headerValues: (name: string) => readonly string[];
  /** Undefined: the connection has no certificate of an authority that the gateway knows. */
  readonly certificate: PeerCertificate | undefined;
}

/** A caller who has shown who he is, until the credential ends. */
export interface CallerSession {
  readonly caller: Caller;
  /** The end of the credential in Unix milliseconds. Undefined: it has no known end. */
  readonly expiresAtMs: number | undefined;
  /** Checks the credential again, for streams that outlive a request. Undefined: a credential that can only expire. Never throws. */
  readonly check: (() => Promise<Identification['result']>) | undefined;
}

/** The kind of a credential, for metrics. `none`: the request has no credential. */
export type CredentialMethod = 'none' | 'oidc' | 'tokenreview' | 'certificate' | 'proxy' | 'token';

/** Why a credential was not accepted, for metrics and the log. Clients never learn it. */
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

/** The answer to the question who sent a request. */
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
