import { readFile } from 'node:fs/promises';
import type { Clock } from '../core/clock.ts';
import { labelsAt, textAt } from '../core/json-at.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { createBoundToken } from './bound-token.ts';
import { boundSecret, hubSecret, memberNamespace, nextBoundSecretName, registrationMarks } from './joined-objects.ts';
import { printRegisteredKubeconfig, type RegisteredAccess, tokenOfKubeconfig } from './registered-kubeconfig.ts';
import { isOwn, ownLabel, registrationKinds } from './registration-kinds.ts';
import { type ContextCluster, problemOf, RegistrationProblem, type RegistrationSteps } from './registration-steps.ts';

/** How to reach a member, without credentials. */
export type MemberAddress = Omit<RegisteredAccess, 'token'>;

/**
 * Returns how to reach a member, from its context.
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

/** A join whose account and Cluster exist. In a dry run they may not. */
export interface CredentialRequest {
  readonly member: ContextCluster;
  readonly address: MemberAddress;
  readonly hub: ContextCluster;
  readonly hubUid: string;
  readonly name: string;
  readonly namespace: string;
  /** The Cluster on the hub. Undefined in a dry run of its creation. */
  readonly owner: KubernetesObject | undefined;
  /** `renewed`: a new token is made. `kept`: only if the existing one cannot be used. */
  readonly token: 'kept' | 'renewed';
  /** True: the leader is asked to report that it uses the new token. */
  readonly isReported: boolean;
  readonly lifetimeSeconds: number;
}

export interface CredentialPorts {
  readonly steps: RegistrationSteps;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Makes the hub hold a usable token of the member: keeps the existing one, or makes a new one, bound to a new Secret in the member.
 *
 * @returns The Secrets in the member whose tokens the hub does not use any more.
 */
export async function provideCredentials(request: CredentialRequest, ports: CredentialPorts): Promise<readonly KubernetesObject[]> {
  const { member, hub, hubUid, name, namespace } = request;
  const { steps, clock } = ports;
  const all = await steps.list(member, registrationKinds.secret, { namespace: memberNamespace, labels: ownSelector });
  const bound = all.filter((secret) => isBoundFor(secret, hubUid));
  const held = await steps.read(hub, { resource: registrationKinds.secret, namespace, name });
  const usable = request.token === 'kept' ? usableToken(held, bound, clock.now()) : undefined;
  if (usable !== undefined && request.owner !== undefined) {
    const kubeconfig = printRegisteredKubeconfig({ ...request.address, token: usable.token });
    await steps.apply(hub, hubSecret({ namespace, owner: request.owner }, { ...usable, kubeconfig, isReported: false }));
    return bound.filter(({ metadata }) => metadata.name !== usable.boundTo);
  }
  const boundTo = nextBoundSecretName(all.map(({ metadata }) => metadata.name));
  await steps.apply(member, boundSecret(boundTo, hubUid));
  await saveNewToken({ ...request, boundTo, isNew: held === undefined }, ports);
  return bound;
}

/** The label selector of the objects that `muster join` makes. */
export const ownSelector = `${ownLabel.key}=${ownLabel.value}`;

/** True if the Secret in the member is one that a token of this hub is bound to. */
export function isBoundFor(secret: KubernetesObject, hubUid: string): boolean {
  return labelsAt(secret, 'metadata', 'labels')[registrationMarks.hub] === hubUid;
}

async function saveNewToken(
  request: CredentialRequest & { readonly boundTo: string; readonly isNew: boolean },
  { steps, clock, signal }: CredentialPorts,
): Promise<void> {
  const { member, hub, address, namespace, name, owner, boundTo, lifetimeSeconds, isReported, isNew } = request;
  if (steps.isDry || owner === undefined) {
    steps.record(hub, { resource: registrationKinds.secret, name }, isNew ? 'created' : 'configured');
    return;
  }
  const made = await createBoundToken(member.api, { boundTo, lifetimeSeconds, now: clock.now() }, signal);
  if ('fault' in made) throw problemOf(member, 'a token of muster-member', made.fault);
  const { token, issued, expires } = made;
  const kubeconfig = printRegisteredKubeconfig({ ...address, token });
  await steps.apply(hub, hubSecret({ namespace, owner }, { kubeconfig, boundTo, issued, expires, isReported }));
}

/** Returns the token on the hub if it has not expired, and if the Secret that it is bound to still exists. */
function usableToken(held: KubernetesObject | undefined, bound: readonly KubernetesObject[], now: number) {
  const { boundTo, issued, expires } = registrationMarks;
  const annotations = labelsAt(held, 'metadata', 'annotations');
  const life = { boundTo: annotations[boundTo] ?? '', issued: annotations[issued] ?? '', expires: annotations[expires] ?? '' };
  const token = tokenOfKubeconfig(Buffer.from(textAt(held, 'data', 'kubeconfig') ?? '', 'base64'));
  const isBound = bound.some(({ metadata }) => metadata.name === life.boundTo);
  return isOwn(held) && token !== undefined && isBound && Date.parse(life.expires) > now ? { ...life, token } : undefined;
}

/** Milliseconds to wait for the report of the leader. A leader that has crashed a moment ago never reports. */
const reportMs = 15_000;
const reportPollMs = 500;

/**
 * Waits until the leader reports that it uses the new token, at most 15 s, if it was asked to. Then revokes the tokens that are bound to
 * these Secrets, by deleting the Secrets.
 */
export async function revokeTokens(
  { member, hub, namespace, name, isReported }: CredentialRequest,
  unused: readonly KubernetesObject[],
  { steps, clock, signal }: CredentialPorts,
): Promise<void> {
  const untilMs = clock.monotonic() + reportMs;
  while (isReported && !steps.isDry && clock.monotonic() < untilMs && !signal.aborted) {
    const held = await steps.read(hub, { resource: registrationKinds.secret, namespace, name });
    if (labelsAt(held, 'metadata', 'annotations')[registrationMarks.unused] === undefined) break;
    await clock.sleep(reportPollMs, signal);
  }
  for (const secret of unused) await steps.remove(member, registrationKinds.secret, secret);
}
