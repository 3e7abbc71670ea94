import type { Access } from './access/access.ts';
import { createLocalAccess } from './access/local-access.ts';
import { createReviewedAccess, type OwnedAccess } from './access/reviewed/reviewed-access.ts';
import { createLocalRights } from './access/rights/local-rights.ts';
import type { OwnRights } from './access/rights/own-rights.ts';
import { checkCallerFiles, readTlsFiles, type TlsFiles } from './config/caller-settings.ts';
import type { Config } from './config/config.ts';
import { readToken } from './config/token.ts';
import type { Clock } from './core/clock.ts';
import type { GroupKind } from './core/kinds.ts';
import type { Log } from './core/log.ts';
import { type ClusterName, parseClusterName } from './core/names.ts';
import { watchFiles } from './fleet/file-watch.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { Authenticator } from './identity/authenticator.ts';
import type { PeerAuthorities } from './identity/peer-certificates.ts';
import { type HttpListener, type ListenerTls, listen } from './serve/http/listen.ts';
import type { Serving } from './serve/serve.ts';
import { createMemberObjects } from './watch/clusters/member-objects.ts';
import type { MirrorRegistry } from './watch/clusters/registry.ts';

/** The open sockets of a gateway. Disposing it closes them and cuts their connections. */
export interface OpenListener extends AsyncDisposable {
  readonly main: HttpListener;
  /** The listener of /metrics. Undefined without `metricsPort`. */
  readonly metrics: HttpListener | undefined;
  /** Undefined without TLS. */
  readonly tlsFiles: TlsFiles | undefined;
}

/**
 * Checks the files of the settings about callers, then listens on the ports of the config.
 *
 * @throws {MusterError} `BAD_INPUT` with one line, if a file is wrong or a port cannot be listened on.
 */
export async function openListener(config: Config): Promise<OpenListener> {
  await checkCallerFiles(config);
  const tlsFiles = await readTlsFiles(config);
  await using stack = new AsyncDisposableStack();
  const { host, port, limits, metricsPort } = config;
  const main = stack.use(await listen({ host, port, limits, tls: tlsFiles && listenerTlsOf(tlsFiles) }));
  const metrics = metricsPort === undefined ? undefined : stack.use(await listen({ host, port: metricsPort }));
  const open = stack.move();
  return { main, metrics, tlsFiles, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

interface CallerSideParts {
  readonly listening: OpenListener;
  readonly fleet: Pick<Fleet, 'member'>;
  /** The name of the hub, which reviews tokens. */
  readonly hub: string | undefined;
}

interface CallerSideOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Creates the authenticator of the config. Undefined in local mode. Also follows the TLS files, because they contain the authorities that sign the
 * certificates of callers.
 */
export async function authenticatorOf(
  options: CallerSideOptions,
  { listening, fleet, hub }: CallerSideParts,
  signal: AbortSignal,
): Promise<Authenticator | undefined> {
  const authorities = followTlsFiles(listening, options, signal);
  const { config, clock } = options;
  const { authentication: settings } = config;
  if (settings === undefined) return undefined;
  const hubName = hub === undefined ? undefined : parseClusterName(hub);
  const hubApi = () => (hubName === undefined ? undefined : fleet.member(hubName)?.api);
  // Imported here, because local mode needs neither jose nor its cryptography.
  const { createAuthenticator } = await import('./identity/create-authenticator.ts');
  return createAuthenticator({ settings, authorities, hub: hubApi, clock }, signal);
}

/**
 * Reads the token file again when it changes, such as a mounted Secret. From then on requests need the new token. While the file is not
 * valid, the last token stays in use. Does nothing without a token file. An abort ends the watch.
 */
export function followTokenFile({ config, clock, log }: CallerSideOptions, serving: Pick<Serving, 'setToken'>, signal: AbortSignal): void {
  const { tokenFile } = config;
  const follow = async (file: string) => {
    for await (const _ of watchFiles([file], clock, signal)) {
      try {
        serving.setToken(await readToken(file));
      } catch (error) {
        log.warn(
          { problem: error instanceof Error ? error.message : String(error) },
          'the token file cannot be used: the last token stays',
        );
      }
    }
  };
  if (tokenFile !== undefined) void follow(tokenFile);
}

/**
 * Reads the files of TLS again when they change, and gives them to new connections. While they are not valid, such as between two writes of a
 * rotation, the last valid ones stay in use. An abort ends the watch. Returns the authorities of clients, the same object until they change.
 */
function followTlsFiles(
  { main, tlsFiles }: OpenListener,
  { config, clock, log }: CallerSideOptions,
  signal: AbortSignal,
): () => PeerAuthorities {
  let current: PeerAuthorities = tlsFiles ?? { clients: [], proxies: [] };
  const follow = async (paths: readonly string[]) => {
    for await (const _ of watchFiles(paths, clock, signal)) {
      try {
        const next = await readTlsFiles(config);
        if (next === undefined) return;
        main.setTls(listenerTlsOf(next));
        current = next;
        log.debug({}, 'the TLS files were read again');
      } catch (error) {
        log.warn(
          { problem: error instanceof Error ? error.message : String(error) },
          'the TLS files cannot be used: the last ones stay in use',
        );
      }
    }
  };
  if (tlsFiles !== undefined) void follow(tlsFiles.paths);
  return () => current;
}

function listenerTlsOf({ cert, key, clients, proxies }: TlsFiles): ListenerTls {
  return { cert, key, clientAuthorities: [...clients, ...proxies].map((authority) => authority.toString()) };
}

/** Creates the rights of callers. Reviews decide if the config has a way to authenticate. Otherwise, in local mode, callers see everything. */
export function createAccess(
  { config, clock, log }: CallerSideOptions,
  { mirrors, fleet }: { readonly mirrors: MirrorRegistry; readonly fleet: Fleet },
  signal: AbortSignal,
): { readonly access: Access; readonly rights: OwnRights; readonly decisions?: OwnedAccess['counts'] | undefined } {
  if (config.authentication === undefined) {
    const served = (name: ClusterName, kind: GroupKind) =>
      mirrors.servedKinds(name) === undefined ? undefined : (mirrors.served(name, kind) ?? 'absent');
    return { access: createLocalAccess(), rights: createLocalRights({ api: (name) => fleet.member(name)?.api, served }) };
  }
  const access = createReviewedAccess({ objects: createMemberObjects({ mirrors: mirrors.own, clock, log }, signal), clock, log }, signal);
  fleet.onJoin(({ name, api, settings, signal: life }) => {
    const { identity, authorization } = settings;
    access.engage({ name, api, identity, authorization }, life);
  }, signal);
  return { access, rights: access, decisions: access.counts };
}
