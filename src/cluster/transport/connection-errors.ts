import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';

const messages: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name of the API server cannot be resolved',
  EAI_AGAIN: 'the name of the API server cannot be resolved at the moment',
  ECONNREFUSED: 'the API server refused the connection',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to the API server',
  ENETUNREACH: 'there is no route to the API server',
  EADDRNOTAVAIL: 'there is no route to the API server',
  CERT_HAS_EXPIRED: 'the certificate of the API server has expired',
  CERT_NOT_YET_VALID: 'the certificate of the API server is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the API server is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the API server is not signed by an authority that is trusted for it',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the API server is not signed by an authority that is trusted for it',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate of the API server is not signed by an authority that is trusted for it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of the API server is not signed by an authority that is trusted for it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the API server is not signed by an authority that is trusted for it',
  CERT_SIGNATURE_FAILURE: 'the certificate of the API server is not signed by an authority that is trusted for it',
  ERR_SSL_WRONG_VERSION_NUMBER: 'expected TLS, got something else',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'expected TLS, got something else',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the API server speaks no TLS of version 1.2 or later',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'the API server speaks no TLS of version 1.2 or later',
};

/** Carries a failure through code that can only throw: the steps of a dial, and undici. It never leaves `src/cluster`. */
export class ClusterFailureError extends Error {
  override readonly name = 'ClusterFailureError';
  readonly failure: ClusterFailure;

  constructor(broken: ClusterFailure) {
    super(broken.message);
    this.failure = broken;
  }
}

/**
 * Turns an error of a socket, of TLS or of an HTTP library into a failure. The message is written by this project, because messages of Node
 * and of libraries contain hosts and addresses.
 */
export function failureOfError(error: unknown): ClusterFailure {
  if (error instanceof ClusterFailureError) return error.failure;
  const code = errorCode(error);
  // In TLS 1.3 the server's alert about the client certificate arrives after the client has finished the handshake.
  if (/^ERR_SSL_.*ALERT_.*(CERTIFICATE|ACCESS_DENIED|UNKNOWN_CA)/.test(code)) {
    return clusterFailure('UNAUTHENTICATED', 'the API server did not accept the client certificate');
  }
  if (/^(ERR_OSSL|ERR_CRYPTO|ERR_TLS_INVALID)/.test(code)) {
    return clusterFailure('UNAUTHENTICATED', 'a certificate or key of the kubeconfig cannot be read');
  }
  const known = messages[code];
  if (known !== undefined) return clusterFailure('UNREACHABLE', known);
  if (code.startsWith('HPE_')) return clusterFailure('MALFORMED', 'expected HTTP, got something else');
  return clusterFailure('UNREACHABLE', code === '' ? 'the connection failed' : `the connection failed (${code})`);
}

/**
 * Returns the code of the error. If it has none, returns the code of its first inner error, or of its cause. Codes are constants of Node,
 * so they may be shown.
 */
function errorCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    const { code, errors, cause } = at as { readonly code?: unknown; readonly errors?: unknown; readonly cause?: unknown };
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code;
    at = Array.isArray(errors) ? errors[0] : cause;
  }
  return '';
}
