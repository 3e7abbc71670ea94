import { readFile } from 'node:fs/promises';
import type { Clock } from '../core/clock.ts';
import { labelsAt, textAt } from '../core/json-at.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { createBoundToken } from './bound-token.ts';
import { boundSecret, hubSecret, memberNamespace, nextBoundSecretName, registrationMarks } from './joined-objects.ts';
import { printRegisteredKubeconfig, type RegisteredAccess, tokenOfKubeconfig } from './registered-kubeconfig.ts';
import { isOwn, ownLabel, registrationKinds } from './registration-kinds.ts';
import { type ContextCluster, problemOf, RegistrationProblem, type RegistrationSteps, UnclearWrite } from './registration-steps.ts';

/** How to reach a member, without credentials. */
export type MemberAddress = Omit<RegisteredAccess, 'token'>;

/**
 * Returns how to reach a member, from its context. Reads the file of the certificate authority if the context names one.
 *
 * @throws {RegistrationProblem} if the context does not use https, or does not verify the certificate of the server.
 */
export async function addressOfMember({ name, endpoint: { server, trust, tlsServerName } }: ContextCluster): Promise<MemberAddress> {
  if (!server.startsWith('https:')) throw new RegistrationProblem(`${name}: expected a server with https`);
  if (trust.type === 'unverified')
    throw new RegistrationProblem(`${name}: expected certificate-authority-data in place of insecure-skip-tls-verify`);
  if (trust.type === 'system') return { server, tlsServerName };
  const { certificates } = trust;
  if (certificates.type === 'data') return { server, tlsServerName, authority: certificates.data };
  try {
    return { server, tlsServerName, authority: await readFile(certificates.path) };
  } catch {
    throw new RegistrationProblem(`${name}: the certificate authority cannot be read from ${certificates.path}`);
  }
}

/** A request for credentials. The account and the Cluster exist already, except in a dry run. */
export interface CredentialRequest {
  readonly member: ContextCluster;
  readonly address: MemberAddress;
  readonly hub: ContextCluster;
  readonly hubUid: string;
  readonly name: string;
  readonly namespace: string;
  /** The Cluster on the hub. Undefined in a dry run of a join that would create it. */
  readonly owner: KubernetesObject | undefined;
  /** `renewed`: makes a new token. `kept`: keeps the existing token if it can be used, else makes a new one. */
  readonly token: 'kept' | 'renewed';
  /** True: a gateway leads on the hub. The leader removes the annotation `unused` when it uses a new token. */
  readonly hasLeader: boolean;
  readonly lifetimeSeconds: number;
}

export interface CredentialPorts {
  readonly steps: RegistrationSteps;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The result of `provideCredentials`. */
export interface ProvidedCredentials {
  /** The Secrets in the member to which older tokens of this hub are bound. Deleting a Secret revokes its token. */
  readonly olderSecrets: readonly KubernetesObject[];
  /** True: the Secret on the hub has the annotation `unused`. Until the leader removes it, the leader may still use an older token. */
  readonly isMarkedUnused: boolean;
}

/**
 * Gives the hub a usable token of the member. Keeps the existing token, or makes a new one that is bound to a new Secret in the member. Writes the
 * Secret on the hub.
 *
 * @throws {RegistrationProblem} if a step fails. If the answer to the write of the new token is lost, the created objects stay, because the hub may
 * use the token already.
 */
export async function provideCredentials(request: CredentialRequest, ports: CredentialPorts): Promise<ProvidedCredentials> {
  const { member, hub, hubUid, name, namespace, owner, hasLeader } = request;
  const { steps, clock } = ports;
  const all = await steps.list(member, registrationKinds.secret, { namespace: memberNamespace, labels: ownSelector });
  const bound = all.filter((secret) => isBoundFor(secret, hubUid));
  const address = { resource: registrationKinds.secret, namespace, name };
  const held = await steps.read(hub, address);
  const usable = request.token === 'kept' ? usableToken(held, bound, clock.now()) : undefined;
  if (usable !== undefined && owner !== undefined) {
    const isMarkedUnused = usable.isMarkedUnused && hasLeader;
    const kubeconfig = printRegisteredKubeconfig({ ...request.address, token: usable.token });
    await steps.applyWith(hub, address, (before) => {
      demandSameToken(held, before, request);
      return hubSecret({ namespace, owner }, { ...usable, kubeconfig, isMarkedUnused }).manifest;
    });
    return { olderSecrets: bound.filter(({ metadata }) => metadata.name !== usable.boundTo), isMarkedUnused };
  }
  const isMarkedUnused = request.token === 'renewed' && held !== undefined && hasLeader;
  const boundTo = nextBoundSecretName(all.map(({ metadata }) => metadata.name));
  await steps.apply(member, boundSecret(boundTo, hubUid));
  await saveNewToken({ ...request, boundTo, held, isMarkedUnused }, ports);
  return { olderSecrets: bound, isMarkedUnused };
}

/** @throws {RegistrationProblem} if the token on the hub has changed since it was read. */
function demandSameToken(held: KubernetesObject | undefined, now: KubernetesObject | undefined, { hub, name }: CredentialRequest): void {
  const tokenOf = (secret: KubernetesObject | undefined) => textAt(secret, 'data', 'kubeconfig');
  if (held?.metadata.uid === now?.metadata.uid && tokenOf(held) === tokenOf(now)) return;
  throw new RegistrationProblem(`${hub.name}: secret/${name} was changed meanwhile: run the command again`);
}

/** The label selector of the objects that `muster join` makes. */
export const ownSelector = `${ownLabel.key}=${ownLabel.value}`;

/** True if a token of any hub is bound to this Secret of the member. */
export function isBound(secret: KubernetesObject): boolean {
  return labelsAt(secret, 'metadata', 'labels')[registrationMarks.hub] !== undefined;
}

/** True if a token of this hub is bound to this Secret of the member. */
export function isBoundFor(secret: KubernetesObject, hubUid: string): boolean {
  return labelsAt(secret, 'metadata', 'labels')[registrationMarks.hub] === hubUid;
}

interface NewTokenRequest extends CredentialRequest {
  /** The Secret in the member that the token is bound to. */
  readonly boundTo: string;
  /** The Secret on the hub before this write. Undefined if it did not exist. */
  readonly held: KubernetesObject | undefined;
  readonly isMarkedUnused: boolean;
}

async function saveNewToken(request: NewTokenRequest, { steps, clock, signal }: CredentialPorts): Promise<void> {
  const { member, hub, namespace, name, owner, boundTo, lifetimeSeconds, isMarkedUnused, held } = request;
  const address = { resource: registrationKinds.secret, namespace, name };
  if (steps.isDry || owner === undefined) {
    steps.record(hub, address, held === undefined ? 'created' : 'configured');
    return;
  }
  const made = await createBoundToken(member.api, { boundTo, lifetimeSeconds, now: clock.now() }, signal);
  if ('fault' in made) throw problemOf(member, 'a token of muster-member', made.fault);
  const { token, issued, expires } = made;
  const kubeconfig = printRegisteredKubeconfig({ ...request.address, token });
  try {
    await steps.applyWith(hub, address, (before) => {
      demandSameToken(held, before, request);
      return hubSecret({ namespace, owner }, { kubeconfig, boundTo, issued, expires, isMarkedUnused }).manifest;
    });
  } catch (error) {
    if (!(error instanceof UnclearWrite)) throw error;
    // The hub may use the new token already, and its Secret in the member keeps it valid.
    steps.keepCreated();
    throw new RegistrationProblem(`${error.message}. The hub may have the new token: run the command again`);
  }
}

/** Returns the token on the hub, with its life. Undefined if the token has expired, or the Secret to which it is bound no longer exists. */
function usableToken(held: KubernetesObject | undefined, bound: readonly KubernetesObject[], now: number) {
  const { boundTo, issued, expires, unused } = registrationMarks;
  const annotations = labelsAt(held, 'metadata', 'annotations');
  const life = { boundTo: annotations[boundTo] ?? '', issued: annotations[issued] ?? '', expires: annotations[expires] ?? '' };
  const token = tokenOfKubeconfig(Buffer.from(textAt(held, 'data', 'kubeconfig') ?? '', 'base64'));
  const isStillBound = bound.some(({ metadata }) => metadata.name === life.boundTo);
  if (!isOwn(held) || token === undefined || !isStillBound || !(Date.parse(life.expires) > now)) return undefined;
  return { ...life, token, isMarkedUnused: annotations[unused] !== undefined };
}

/** Maximum wait until the leader removes the annotation `unused`. The wait is bounded, because a leader that has just crashed never removes it. */
const maxUnusedWaitMs = 15_000;
const unusedPollMs = 500;

/**
 * Revokes the older tokens, by deleting their Secrets in the member. If the Secret on the hub has the annotation `unused`, first waits at most
 * 15 s until the leader removes it.
 */
export async function revokeTokens(
  { member, hub, namespace, name }: CredentialRequest,
  { olderSecrets, isMarkedUnused }: ProvidedCredentials,
  { steps, clock, signal }: CredentialPorts,
): Promise<void> {
  const untilMs = clock.monotonic() + maxUnusedWaitMs;
  while (isMarkedUnused && !steps.isDry && clock.monotonic() < untilMs && !signal.aborted) {
    const held = await steps.read(hub, { resource: registrationKinds.secret, namespace, name });
    if (labelsAt(held, 'metadata', 'annotations')[registrationMarks.unused] === undefined) break;
    await clock.sleep(unusedPollMs, signal);
  }
  for (const secret of olderSecrets) await steps.remove(member, registrationKinds.secret, secret);
}
