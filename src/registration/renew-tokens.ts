import type { Audit } from '../audit/audit.ts';
import { audited } from '../audit/audited.ts';
import { describeFault } from '../changes/describe-fault.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Fault } from '../core/faults.ts';
import type { JsonObject } from '../core/json.ts';
import { textAt } from '../core/json-at.ts';
import type { Log } from '../core/log.ts';
import { loggableError } from '../core/loggable-error.ts';
import { type ClusterName, parseClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { whenAborted } from '../core/scheduling/until-aborted.ts';
import type { ClusterCandidate } from '../fleet/cluster-source.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Term } from '../propagate/controller/lease/lease.ts';
import { createWorkQueue } from '../propagate/controller/state/work-queue.ts';
import { type Hub, hubFault } from '../propagate/hub/hub.ts';
import type { MirrorRegistry } from '../watch/clusters/registry.ts';
import { createBoundToken } from './bound-token.ts';
import { registrationMarks } from './joined-objects.ts';
import { tokenOfKubeconfig, withTokenInKubeconfig } from './registered-kubeconfig.ts';
import { registrationKinds } from './registration-kinds.ts';
import { renewalMsOf, type TokenLife, tokenLifeOf } from './token-life.ts';
import { gatewayCaller } from './write-statuses.ts';

/** Minimum milliseconds between two attempts to renew the token of one cluster, successful or not. */
const minRenewalIntervalMs = 5 * 60_000;

/** Milliseconds until the next check of a Secret whose token this gateway does not use yet. */
const recheckUnusedMs = 1_000;

/** Milliseconds until the next check of a Secret that has no Cluster on the hub. */
const recheckWithoutClusterMs = 60_000;

/** Milliseconds that the other gateways of the hub get to read a new token, after this gateway has read the token. */
const otherGatewaysMs = 5_000;

/** Maximum milliseconds until the next check of a token. The wait is bounded, because the clock may be set forward. */
const maxRecheckMs = 3_600_000;

/** Maximum number of tokens that are renewed at the same time. */
const maxRenewals = 8;

/** The shortest lifetime that API servers give to a token. */
const minLifetimeSeconds = 600;

/** The parts of the gateway that `renewTokens` uses. */
export interface TokenPorts {
  readonly hub: Hub;
  readonly systemNamespace: string;
  readonly fleet: Pick<Fleet, 'roleOf' | 'member'>;
  readonly mirrors: Pick<MirrorRegistry, 'followSecrets'>;
  /** Returns the candidates made from the Clusters of the hub, by name. A Cluster that was not read yet has none. */
  readonly registered: () => ReadonlyMap<ClusterName, ClusterCandidate>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Renews the tokens that `muster join` has made, during one term. A token is renewed when a third of its life is left, and at least 20 minutes before
 * its end. Each cluster has at most one attempt in 5 minutes. The new token is bound to the same Secret in the member, so deleting that Secret
 * revokes both. The old token stays valid until its life ends. Open streams are not interrupted.
 *
 * Also removes the annotation `unused` from the Secret of a token that this gateway uses. `muster join --rotate` waits for that. Resolves when the
 * term has ended and no request runs.
 */
export async function renewTokens(ports: TokenPorts, term: Term): Promise<void> {
  const { hub, clock, log, mirrors, systemNamespace } = ports;
  const { objects } = hub.members;
  const triedMs = new Map<string, number>();
  let secrets: ReturnType<TokenPorts['mirrors']['followSecrets']>;
  const follow = () => {
    if (secrets === undefined || secrets.isEnded()) secrets = mirrors.followSecrets(hub.cluster, systemNamespace, addAll, term.signal);
  };

  async function work(name: string): Promise<number | undefined> {
    const life = tokenLifeOf(secrets?.get(systemNamespace, name));
    const member = parseClusterName(name);
    const candidate = member === undefined ? undefined : ports.registered().get(member);
    if (life === undefined || member === undefined) return undefined;
    if (candidate === undefined) return recheckWithoutClusterMs;
    const dueMs = Math.max(
      renewalMsOf(life) - clock.now(),
      (triedMs.get(name) ?? Number.NEGATIVE_INFINITY) + minRenewalIntervalMs - clock.monotonic(),
    );
    if (!life.isMarkedUnused && dueMs > 0) return Math.min(dueMs, maxRecheckMs);
    const used = usedToken(ports, candidate);
    const request = { name, member, life, used };
    if (used === undefined || !term.isLeading()) return recheckUnusedMs;
    if (life.isMarkedUnused) return removeUnusedMark(ports, request, term);
    triedMs.set(name, clock.monotonic());
    const failed = await renewAudited(ports, request, term);
    if (failed !== undefined && !term.signal.aborted)
      log.warn({ cluster: name, problem: failed }, 'the token of a registered cluster could not be renewed');
    return minRenewalIntervalMs;
  }

  const onBug = (name: string, error: unknown) => log.error({ cluster: name, error: loggableError(error) }, 'bug: a pass threw an error');
  const queue = createWorkQueue({ work, onBug, maxRunning: maxRenewals, clock }, term.signal);
  function addAll(): void {
    for (const secret of secrets?.all() ?? []) if (tokenLifeOf(secret) !== undefined) queue.add(secret.metadata.name);
  }
  objects.onChange((changes) => {
    for (const { type, cluster } of changes) {
      if (type !== 'cluster') continue;
      if (cluster === hub.cluster) follow();
      // The Secret may have been read before its cluster joined the fleet.
      queue.add(cluster);
    }
  }, term.signal);
  follow();
  addAll();
  await whenAborted(term.signal);
  await queue.idle();
}

/** The token of one registered cluster. */
interface TokenRenewal {
  readonly name: string;
  readonly member: ClusterName;
  readonly life: TokenLife;
  /** The token that this gateway uses now. Undefined: it does not read the cluster with a token of this registration. */
  readonly used: string | undefined;
}

/**
 * Returns the token with which this gateway reads the cluster. Undefined if the cluster is no member by this registration, or its access has no
 * token.
 */
function usedToken({ fleet }: TokenPorts, candidate: ClusterCandidate): string | undefined {
  if (candidate.result !== 'usable' || fleet.roleOf(candidate).role !== 'member') return undefined;
  const { credentials } = candidate.endpoint;
  return credentials.type === 'token' ? credentials.token : undefined;
}

/**
 * Removes the annotation `unused` if the Secret has the token that this gateway uses. Returns the delay until the next attempt. Undefined: no further
 * attempt is needed.
 */
async function removeUnusedMark(ports: TokenPorts, { name, used }: TokenRenewal, term: Term): Promise<number | undefined> {
  const read = await readSecret(ports, name, term.signal);
  if (read.result === 'failed' || tokenOfKubeconfig(kubeconfigOf(read.secret)) !== used) return recheckUnusedMs;
  const { secret } = read;
  await ports.clock.sleep(otherGatewaysMs, term.signal);
  if (!term.isLeading()) return undefined;
  const failed = await patchSecret(
    ports,
    { secret, patch: { metadata: { annotations: { [registrationMarks.unused]: null } } } },
    term.signal,
  );
  return failed === undefined ? undefined : recheckUnusedMs;
}

/**
 * Renews a token, and records it in the audit log. If the audit log cannot take the line, no token is made. Returns why it failed; undefined after a
 * success.
 */
async function renewAudited(ports: TokenPorts, request: TokenRenewal, term: Term): Promise<string | undefined> {
  const { hub, systemNamespace: namespace, audit } = ports;
  const secret = { cluster: hub.cluster, apiVersion: 'v1', kind: 'Secret', namespace, name: request.name };
  try {
    return await audited(
      audit,
      { caller: gatewayCaller, verb: 'renewToken' },
      {
        run: () => renew(ports, request, term),
        factsOf: (failed) => ({ objects: [{ ...secret, result: failed === undefined ? 'CONFIGURED' : 'FAILED' }] }),
      },
    );
  } catch (error) {
    if (error instanceof MusterError) return error.message;
    throw error;
  }
}

/** Makes a new token and saves it on the hub. Returns why it failed. Undefined after a success, or if no new token is wanted now. */
async function renew(ports: TokenPorts, { name, member, life, used }: TokenRenewal, term: Term): Promise<string | undefined> {
  const api = ports.fleet.member(member)?.api;
  const read = await readSecret(ports, name, term.signal);
  if (read.result === 'failed') return describeFault(read.fault);
  const { secret } = read;
  const before = kubeconfigOf(secret);
  // If the tokens differ, another process has saved one that this gateway has not read yet. That token is new enough.
  if (api === undefined || tokenOfKubeconfig(before) !== used) return undefined;
  const { boundTo, issuedMs, expiresMs } = life;
  // Rounded up to whole minutes: the API server cuts its times to seconds, so the life would otherwise get shorter at each renewal.
  const lifetimeSeconds = Math.max(minLifetimeSeconds, Math.ceil((expiresMs - issuedMs) / 60_000) * 60);
  const made = await createBoundToken(api, { boundTo, lifetimeSeconds, now: ports.clock.now() }, term.signal);
  if ('fault' in made) return describeFault(made.fault);
  const kubeconfig = withTokenInKubeconfig(before, made.token);
  if (kubeconfig === undefined || !term.isLeading()) return undefined;
  const annotations = { [registrationMarks.issued]: made.issued, [registrationMarks.expires]: made.expires };
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  const failed = await patchSecret(ports, { secret, patch: { metadata: { annotations }, data } }, term.signal);
  return failed && describeFault(failed);
}

async function readSecret(
  { hub, systemNamespace: namespace }: TokenPorts,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly result: 'read'; readonly secret: KubernetesObject } | { readonly result: 'failed'; readonly fault: Fault }> {
  const client = hub.client();
  if (client === undefined) return { result: 'failed', fault: gone(hub) };
  const answer = await client.get({ resource: registrationKinds.secret, namespace, name }, signal);
  if (answer.result === 'answered') return { result: 'read', secret: answer.object };
  return { result: 'failed', fault: answer.result === 'failed' ? answer.fault : gone(hub) };
}

/** Patches the Secret, only if it still has the version that was read. Returns the fault; a changed Secret is a `CONFLICT`. */
async function patchSecret(
  { hub, systemNamespace: namespace }: TokenPorts,
  {
    secret: { metadata },
    patch,
  }: { readonly secret: KubernetesObject; readonly patch: { readonly metadata: JsonObject; readonly data?: JsonObject } },
  signal: AbortSignal,
): Promise<Fault | undefined> {
  const { name, uid = '', resourceVersion = '' } = metadata;
  const guarded = { ...patch, metadata: { ...patch.metadata, uid, resourceVersion } };
  const answer = await hub
    .client()
    ?.patch({ resource: registrationKinds.secret, namespace, name, type: 'merge', patch: guarded, run: 'real' }, signal);
  if (answer === undefined || answer.result === 'absent') return gone(hub);
  return answer.result === 'failed' ? answer.fault : undefined;
}

function kubeconfigOf(secret: KubernetesObject): Uint8Array {
  return Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64');
}

function gone(hub: Hub): Fault {
  return hubFault(hub, 'GONE', 'the Secret, or the hub, is gone');
}
