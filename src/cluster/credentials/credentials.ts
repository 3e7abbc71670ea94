import type { User } from '@kubernetes/client-node';
import type { Clock } from '../../core/clock.ts';
import { untilAborted } from '../../core/scheduling/until-aborted.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import type { Credentials, Endpoint } from '../endpoint.ts';
import { ClusterFailureError, failureOfError } from '../transport/connection-errors.ts';
import type { TlsIdentity } from '../transport/dial.ts';
import { abandonedFailure } from '../transport/request-scope.ts';
import { runExecPlugin } from './exec-plugin.ts';
import { impersonationHeaders } from './impersonation.ts';
import { createMaterialReader, type MaterialReader, rereadMs } from './materials.ts';

/** The identity of requests at one moment: headers and client certificate. */
export interface RequestIdentity {
  /** Grows with each change of the identity. */
  readonly serial: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TlsIdentity;
}

export type IdentityResult =
  | { readonly type: 'obtained'; readonly identity: RequestIdentity }
  | { readonly type: 'failed'; readonly failure: ClusterFailure };

/** The credentials of one endpoint. All callers share one fetch. */
export interface CredentialProvider {
  obtain(signal: AbortSignal): Promise<IdentityResult>;
  /**
   * Returns the identity for sending a request again after a 401. It is the current identity if that is newer than `used`, else the result
   * of one refresh.
   *
   * Undefined if the last refresh was less than 10 s ago. The caller then keeps the 401 as the result.
   */
  renew(used: RequestIdentity, signal: AbortSignal): Promise<IdentityResult | undefined>;
}

/**
 * Milliseconds. Credentials are replaced this long before they expire. It is also the minimum time between two refreshes, and between a
 * failed attempt and the next one.
 */
const leewayMs = 10_000;
const providerDeadlineMs = 60_000;

/** The `Authorization` header and the client certificate, with the monotonic time at which they expire. */
interface AuthProof {
  readonly authorization?: string;
  readonly certificate?: Uint8Array;
  readonly key?: Uint8Array;
  readonly freshUntilMs: number;
}

interface CurrentIdentity {
  readonly identity: RequestIdentity;
  readonly freshUntilMs: number;
}

/**
 * Creates the credentials of an endpoint. It reads and runs nothing before the first `obtain`. When `life` aborts, plugins are killed and
 * all secrets are forgotten.
 *
 * @param endpoint Called by each `obtain` and `renew`. If it returns another object than before, the credentials of the earlier one are
 * dropped.
 */
export function createCredentials(endpoint: () => Endpoint, clock: Clock, life: AbortSignal): CredentialProvider {
  return new RefreshingCredentials(endpoint, clock, life);
}

class RefreshingCredentials implements CredentialProvider {
  readonly #currentEndpoint: () => Endpoint;
  readonly #clock: Clock;
  readonly #life: AbortSignal;
  #endpoint: Endpoint;
  #readers: MaterialReaders;
  #prove: Prover;
  #held: CurrentIdentity | undefined;
  #last: RequestIdentity | undefined;
  #failed: { readonly failure: ClusterFailure; readonly untilMs: number } | undefined;
  #fetching: Promise<IdentityResult> | undefined;
  #renewing: Promise<IdentityResult> | undefined;
  #renewedMs = Number.NEGATIVE_INFINITY;

  constructor(currentEndpoint: () => Endpoint, clock: Clock, life: AbortSignal) {
    this.#currentEndpoint = currentEndpoint;
    this.#clock = clock;
    this.#life = life;
    this.#endpoint = currentEndpoint();
    this.#readers = readersOf(this.#endpoint, clock);
    this.#prove = proverOf(this.#endpoint, { readers: this.#readers, clock, life });
    life.addEventListener('abort', () => {
      this.#held = undefined;
      this.#last = undefined;
    });
  }

  async obtain(signal: AbortSignal): Promise<IdentityResult> {
    return (await untilAborted(this.#current(), signal)) ?? { type: 'failed', failure: abandonedFailure };
  }

  async renew(used: RequestIdentity, signal: AbortSignal): Promise<IdentityResult | undefined> {
    this.#adoptCurrentEndpoint();
    if (this.#held !== undefined && this.#held.identity.serial > used.serial) return { type: 'obtained', identity: this.#held.identity };
    if (this.#renewing === undefined) {
      if (this.#clock.monotonic() < this.#renewedMs + leewayMs) return undefined;
      this.#renewedMs = this.#clock.monotonic();
      this.#renewing = this.#fetchAnew().finally(() => {
        this.#renewing = undefined;
      });
    }
    return await untilAborted(this.#renewing, signal);
  }

  /**
   * Changes to the current endpoint if it is another one. `#last` stays, so that serials continue and connections with the same
   * certificates stay open.
   */
  #adoptCurrentEndpoint(): void {
    const currentEndpoint = this.#currentEndpoint();
    if (currentEndpoint === this.#endpoint || this.#life.aborted) return;
    this.#endpoint = currentEndpoint;
    this.#readers = readersOf(currentEndpoint, this.#clock);
    this.#prove = proverOf(currentEndpoint, { readers: this.#readers, clock: this.#clock, life: this.#life });
    this.#held = undefined;
    this.#failed = undefined;
    this.#fetching = undefined;
    this.#renewedMs = Number.NEGATIVE_INFINITY;
  }

  #current(): Promise<IdentityResult> {
    this.#adoptCurrentEndpoint();
    const nowMs = this.#clock.monotonic();
    if (this.#held !== undefined && nowMs < this.#held.freshUntilMs)
      return Promise.resolve({ type: 'obtained', identity: this.#held.identity });
    if (this.#failed !== undefined && nowMs < this.#failed.untilMs)
      return Promise.resolve({ type: 'failed', failure: this.#failed.failure });
    return this.#fetchOnce();
  }

  async #fetchAnew(): Promise<IdentityResult> {
    for (const reader of this.#readers.all) reader.expire();
    this.#prove.expire();
    this.#held = undefined;
    return await this.#fetchOnce();
  }

  #fetchOnce(): Promise<IdentityResult> {
    if (this.#fetching !== undefined) return this.#fetching;
    const fetching = this.#fetch().finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
    this.#fetching = fetching;
    return fetching;
  }

  async #fetch(): Promise<IdentityResult> {
    const endpoint = this.#endpoint;
    try {
      const { ca, certificate, key, hasFiles } = this.#readers;
      const [proof, ...files] = await Promise.all([this.#prove(), ca?.read(), certificate?.read(), key?.read()]);
      if (this.#life.aborted) return { type: 'failed', failure: abandonedFailure };
      if (this.#endpoint !== endpoint) return await this.#fetchOnce();
      const identity = identityAfter(this.#last, this.#headersWith(proof), this.#tlsWith(proof, files));
      const filesUntilMs = hasFiles ? this.#clock.monotonic() + rereadMs : Number.POSITIVE_INFINITY;
      this.#last = identity;
      this.#held = { identity, freshUntilMs: Math.min(proof.freshUntilMs, filesUntilMs) };
      this.#failed = undefined;
      return { type: 'obtained', identity };
    } catch (error) {
      if (!(error instanceof ClusterFailureError)) throw error;
      if (this.#endpoint !== endpoint) return await this.#fetchOnce();
      this.#failed = { failure: error.failure, untilMs: this.#clock.monotonic() + leewayMs };
      return { type: 'failed', failure: error.failure };
    }
  }

  #headersWith({ authorization }: AuthProof): RequestIdentity['headers'] {
    return { ...impersonationHeaders(this.#endpoint.impersonation), ...optional('authorization', authorization) };
  }

  #tlsWith(proof: AuthProof, [ca, cert, key]: readonly (Uint8Array | undefined)[]): Omit<TlsIdentity, 'serial'> {
    return {
      verify: this.#endpoint.trust.type !== 'unverified',
      ...optional('ca', ca),
      ...optional('cert', proof.certificate ?? cert),
      ...optional('key', proof.key ?? key),
    };
  }
}

interface MaterialReaders {
  readonly ca: MaterialReader | undefined;
  readonly certificate: MaterialReader | undefined;
  readonly key: MaterialReader | undefined;
  readonly all: readonly MaterialReader[];
  /** True if the authority, the client certificate or the client key comes from a file. */
  readonly hasFiles: boolean;
}

function readersOf({ trust, clientCertificate }: Endpoint, clock: Clock): MaterialReaders {
  const ca = trust.type === 'authority' ? createMaterialReader(trust.certificates, 'the certificate authority', clock) : undefined;
  const certificate = clientCertificate && createMaterialReader(clientCertificate.certificate, 'the client certificate', clock);
  const key = clientCertificate && createMaterialReader(clientCertificate.key, 'the client key', clock);
  const materials = [trust.type === 'authority' ? trust.certificates : undefined, clientCertificate?.certificate, clientCertificate?.key];
  const all = [ca, certificate, key].filter((reader) => reader !== undefined);
  return { ca, certificate, key, all, hasFiles: materials.some((material) => material?.type === 'file') };
}

/**
 * Returns the current proof, which may be that of an earlier call. `expire` drops the earlier proof, so that the next call makes a new one.
 */
interface Prover {
  (): Promise<AuthProof>;
  expire(): void;
}

interface ProverOptions {
  readonly readers: MaterialReaders;
  readonly clock: Clock;
  readonly life: AbortSignal;
}

function proverOf(endpoint: Endpoint, options: ProverOptions): Prover {
  const { credentials } = endpoint;
  switch (credentials.type) {
    case 'none':
      return fixedProver(() => undefined);
    case 'token':
      return fixedProver(() => bearerAuthorization(credentials.token));
    case 'basic':
      return fixedProver(() => basicAuthorization(credentials));
    case 'tokenFile':
      return tokenFileProver(credentials.path, options.clock);
    case 'exec':
      return keptProver(() => execProof(endpoint, credentials, options), options.clock);
    case 'oidc':
      return oidcProver(credentials.settings, options);
    default:
      throw credentials satisfies never;
  }
}

function fixedProver(authorization: () => string | undefined): Prover {
  const prove = async () => ({ ...optional('authorization', authorization()), freshUntilMs: Number.POSITIVE_INFINITY });
  return Object.assign(prove, { expire: () => undefined });
}

function tokenFileProver(path: string, clock: Clock): Prover {
  const reader = createMaterialReader({ type: 'file', path }, 'the token', clock);
  const prove = async () => ({
    authorization: bearerAuthorization(Buffer.from(await reader.read()).toString('utf8')),
    freshUntilMs: clock.monotonic() + rereadMs,
  });
  return Object.assign(prove, { expire: () => reader.expire() });
}

/** Calls `make` for the first proof, and again once `freshUntilMs` of the last proof has passed. */
function keptProver(make: () => Promise<AuthProof>, clock: Clock): Prover {
  let kept: AuthProof | undefined;
  const prove = async () => {
    if (kept === undefined || clock.monotonic() >= kept.freshUntilMs) kept = await make();
    return kept;
  };
  return Object.assign(prove, {
    expire() {
      kept = undefined;
    },
  });
}

async function execProof(
  endpoint: Endpoint,
  { plugin }: Extract<Credentials, { type: 'exec' }>,
  { readers, clock, life }: ProverOptions,
): Promise<AuthProof> {
  const authority = await readers.ca?.read();
  const cluster = {
    server: endpoint.server,
    insecure: endpoint.trust.type === 'unverified',
    ...optional('tlsServerName', endpoint.tlsServerName),
    ...optional('proxyUrl', endpoint.proxyUrl),
    ...optional('authority', authority),
  };
  const outcome = await runExecPlugin(plugin, { cluster, clock }, life);
  if (outcome.type === 'failed') throw new ClusterFailureError(outcome.failure);
  const { token, clientCertificate, clientKey, expiresMs } = outcome.credential;
  const goodForMs = expiresMs === undefined ? Number.POSITIVE_INFINITY : expiresMs - clock.now() - leewayMs;
  return {
    ...(token === undefined ? {} : { authorization: bearerAuthorization(token) }),
    ...optional('certificate', clientCertificate),
    ...optional('key', clientKey),
    // A credential counts as fresh for 10 s even if it has already expired. The server then answers 401. Running the plugin for every
    // request would not help.
    freshUntilMs: clock.monotonic() + Math.max(goodForMs, leewayMs),
  };
}

function oidcProver(settings: Readonly<Record<string, string>>, { clock, life }: ProverOptions): Prover {
  const tokens = createOidcTokens(settings);
  const prove = async (): Promise<AuthProof> => {
    const done = new AbortController();
    const late = clock.sleep(providerDeadlineMs, done.signal);
    try {
      const token = await untilAborted(Promise.race([tokens(), late.then(() => undefined)]), life);
      if (token === undefined) throw new ClusterFailureError(clusterFailure('UNAUTHENTICATED', 'the OIDC provider gave no token'));
      return { authorization: bearerAuthorization(token), freshUntilMs: clock.monotonic() + rereadMs };
    } catch (error) {
      if (error instanceof ClusterFailureError) throw error;
      throw new ClusterFailureError(
        clusterFailure('UNAUTHENTICATED', `the OIDC token could not be refreshed: ${failureOfError(error).message}`),
      );
    } finally {
      done.abort();
    }
  };
  return Object.assign(prove, { expire: () => undefined });
}

/**
 * Returns a function that gives the id token of an `auth-provider: oidc`, or undefined if there is none. client-node refreshes a token that
 * has expired. Refreshed tokens are not written to the kubeconfig.
 */
function createOidcTokens(settings: Readonly<Record<string, string>>): () => Promise<string | undefined> {
  // client-node writes refreshed tokens into the user that it is given.
  const user: User = { name: 'oidc', authProvider: { name: 'oidc', config: { ...settings } } };
  // Imported at the first use, because the import takes half a second.
  const load = async () => new (await import('@kubernetes/client-node/dist/oidc_auth.js')).OpenIDConnectAuth();
  let loading: ReturnType<typeof load> | undefined;
  return async () => {
    loading ??= load();
    const headers: Record<string, string> = {};
    await (await loading).applyAuthentication(user, { headers });
    return headers.Authorization?.replace(/^Bearer /, '');
  };
}

function bearerAuthorization(token: string): string {
  const trimmed = token.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return `Bearer ${trimmed}`;
  throw new ClusterFailureError(
    clusterFailure('UNAUTHENTICATED', trimmed === '' ? 'the token is empty' : 'the token has characters that are not allowed in a token'),
  );
}

function basicAuthorization({ username, password }: Extract<Credentials, { type: 'basic' }>): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Returns the last identity if nothing has changed, so that connections made with it stay open. */
function identityAfter(
  last: RequestIdentity | undefined,
  headers: RequestIdentity['headers'],
  tls: Omit<TlsIdentity, 'serial'>,
): RequestIdentity {
  const sameTls =
    last !== undefined && sameBytes(last.tls.ca, tls.ca) && sameBytes(last.tls.cert, tls.cert) && sameBytes(last.tls.key, tls.key);
  if (sameTls && last.headers.authorization === headers.authorization) return last;
  const serial = (last?.serial ?? 0) + 1;
  return { serial, headers, tls: sameTls ? last.tls : { ...tls, serial } };
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && Buffer.compare(a, b) === 0);
}

function optional<Key extends string, T>(key: Key, value: T | undefined): { readonly [K in Key]?: T } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: T };
}
