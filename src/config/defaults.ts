/**
 * Loopback, so that other machines in the network cannot reach a laptop's clusters. Any other host needs `authentication` or a token file.
 */
export const defaultHost = '127.0.0.1';

/** The TCP port to listen on, if no other one is configured. */
export const defaultPort = 4000;

/** Limits for requests of callers. The config file can set each of them, within bounds. Limits for GraphQL documents are fixed. */
export interface Limits {
  /** Maximum bytes of a request's body. An API server accepts 3 MiB, so this limit admits every object that it accepts. */
  readonly bodyBytes: number;
  /** Maximum number of operations in flight in the process. Further ones are answered with 429. */
  readonly requestsInFlight: number;
  /** Seconds after which a query is aborted. */
  readonly querySeconds: number;
  /** Seconds after which a mutation is aborted. Changes that it has already written stay. */
  readonly mutationSeconds: number;
  /** Maximum number of open subscriptions over all transports. A further one fails with `OVERLOADED`. */
  readonly streams: number;
  /** Maximum bytes of one answer, or of one message of a stream. A larger one fails with `TOO_COSTLY`. */
  readonly answerBytes: number;
  /** Maximum bytes that wait in all connections for their clients. Above it, the connection with the most bytes is closed. */
  readonly unsentBytes: number;
}

/** The limits that apply unless the config file sets them. */
export const defaultLimits: Limits = {
  bodyBytes: 4 << 20,
  requestsInFlight: 400,
  querySeconds: 30,
  mutationSeconds: 60,
  streams: 5_000,
  answerBytes: 64 << 20,
  unsentBytes: 256 << 20,
};

/** The log levels, from most to fewest lines. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

export const defaultLogLevel: LogLevel = 'info';

/** Access to Secrets. `none`: no access. `metadata`: only their metadata. `live`: also their data, one Secret at a time. */
export const secretsModes = ['none', 'metadata', 'live'] as const;

export type SecretsMode = (typeof secretsModes)[number];

/**
 * How the rights of callers in a cluster are decided. `sar`: by SubjectAccessReviews. `rbac`: from its RBAC objects, for clusters without
 * another authorizer. `live`: by the API server at each read, which the gateway sends as the caller. Objects of such a cluster are not mirrored.
 */
export const authorizationModes = ['sar', 'rbac', 'live'] as const;

export type AuthorizationMode = (typeof authorizationModes)[number];

/** The systems whose lists of clusters can be read. */
export const inventoryTypes = [
  'ClusterAPI',
  'Karmada',
  'OpenClusterManagement',
  'ClusterProfile',
  'Istio',
  'ArgoCD',
  'MulticlusterRuntime',
] as const;

export type InventoryType = (typeof inventoryTypes)[number];

/** The namespace of the hub in which Secrets of registered clusters are kept. A gateway in a Pod uses the namespace of the Pod instead. */
export const defaultSystemNamespace = 'muster-system';

/** The authorization of clusters without a setting of their own. SubjectAccessReviews are right with every authorizer. */
export const defaultAuthorization: AuthorizationMode = 'sar';

/**
 * The algorithms of signatures of tokens that may be accepted. Default: all. All have public keys, so the gateway never holds a key that
 * signs.
 */
export const tokenAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

/** The prefix of names and groups from OpenID Connect, so that no issuer can name users of clusters. */
export const defaultIdentityPrefix = 'oidc:';

/** The data of Secrets can be read by default. In local mode, the caller runs the gateway and has the rights of the kubeconfig anyway. */
export const defaultSecrets: SecretsMode = 'live';

/** 0 seconds, because in local mode no load balancer has to notice "not ready". */
export const defaultShutdownDelaySeconds = 0;

/** The milliseconds that a call of a hook may take. A load balancer that changes its configuration takes seconds. */
export const defaultHookTimeoutMs = 10_000;
