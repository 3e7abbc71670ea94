/** The API server of one team's laptop is not to be reached from the next table: loopback, unless a token file allows more. */
export const defaultHost = '127.0.0.1';

/** TCP port. */
export const defaultPort = 4000;

/** Bounds of what callers may ask of the process. Each can be set in the config file, within the bounds given there; those of documents are fixed. */
export interface Limits {
  /** Bytes of a request's body. The API server takes 3 MiB, so an object of any size it takes fits. */
  readonly bodyBytes: number;
  /** Operations in flight in the process; more are answered 429. */
  readonly requestsInFlight: number;
  /** Seconds after which a query is aborted. */
  readonly querySeconds: number;
  /** Seconds after which a mutation is aborted: what it has written by then stays. */
  readonly mutationSeconds: number;
  /** Subscriptions that are read at a time, over all transports; one more is told `OVERLOADED`. */
  readonly streams: number;
  /** Bytes of one answer, or of one message of a stream; more is refused with `TOO_COSTLY`. */
  readonly answerBytes: number;
  /** Bytes that wait in all connections for their clients. Beyond it the connection with the most is closed. */
  readonly unsentBytes: number;
}

/** What holds if the config file says nothing. */
export const defaultLimits: Limits = {
  bodyBytes: 4 << 20,
  requestsInFlight: 400,
  querySeconds: 30,
  mutationSeconds: 60,
  streams: 5_000,
  answerBytes: 64 << 20,
  unsentBytes: 256 << 20,
};

/** From the most to the least. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

export const defaultLogLevel: LogLevel = 'info';

/** What may be had of Secrets: nothing; their metadata; also, one at a time by `live`, their data. */
export const secretsModes = ['none', 'metadata', 'live'] as const;

export type SecretsMode = (typeof secretsModes)[number];

/** Local mode: the caller is whoever runs it, with the rights of the kubeconfig. */
export const defaultSecrets: SecretsMode = 'live';

/** Seconds between "not ready" and the end of accepting: 0 in local mode, where no load balancer has to notice. */
export const defaultShutdownDelaySeconds = 0;
