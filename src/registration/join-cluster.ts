import { discover } from '../cluster/discovery.ts';
import { isForbiddenAddress } from '../cluster/transport/public-addresses.ts';
import type { Clock } from '../core/clock.ts';
import { isJsonObject } from '../core/json.ts';
import { listAt } from '../core/json-at.ts';
import { demandFreeName, hasLeader, uidOfCluster } from './joined-clusters.ts';
import { clusterObject, memberAccount, memberObjects } from './joined-objects.ts';
import { addressOfMember, provideCredentials, revokeTokens } from './member-credentials.ts';
import { mayWriteBy, memberRules, type RightsRule } from './member-rights.ts';
import { registrationKinds } from './registration-kinds.ts';
import { type RegistrationResult, runRegistration } from './registration-result.ts';
import { type ContextCluster, problemOf, RegistrationProblem, type RegistrationSteps } from './registration-steps.ts';

/** The request of `muster join`. */
export interface JoinRequest {
  /** The name of the Cluster on the hub. */
  readonly name: string;
  /** The system namespace of the hub. */
  readonly namespace: string;
  /** The labels, region and provider of the cluster. Undefined: those of the existing Cluster stay. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly region?: string | undefined;
  readonly provider?: string | undefined;
  /** True: the account may also write. With `rotate`, rights to write stay as they are. */
  readonly write: boolean;
  /** True: makes a new token and revokes the old one. */
  readonly rotate: boolean;
  readonly lifetimeSeconds: number;
  readonly dryRun: boolean;
}

/** The clusters that take part, and the clock. */
export interface JoinPorts {
  readonly member: ContextCluster;
  readonly hub: ContextCluster;
  readonly clock: Clock;
}

/**
 * Registers a cluster on the hub: makes an account with rights in the member, a token of it, and the Cluster with its Secret on the hub.
 * What is the same already stays, the token too.
 *
 * If a step fails, deletes what this run has created. Takes at most two minutes, and 20 s more to undo.
 */
export async function joinCluster(request: JoinRequest, ports: JoinPorts, signal: AbortSignal): Promise<RegistrationResult> {
  const { dryRun, name, namespace, rotate, lifetimeSeconds } = request;
  const { member, hub, clock } = ports;
  return runRegistration({ dryRun, clock, signal }, async (steps, until) => {
    const joining = { request, ports, steps, signal: until };
    const address = await addressOfMember(member);
    const { memberUid, hubUid, existing } = await demandJoinable(joining);
    const { rules, notes } = await rulesOf(joining);
    for (const planned of memberObjects(rules)) await steps.apply(member, planned);
    const owner = await steps.apply(hub, clusterObject({ ...request, uid: memberUid }, existing));
    const isNewAccount = steps.hasCreated(member, { kind: 'ServiceAccount', name: memberAccount });
    const isReported = rotate && (await hasLeader(steps, hub, namespace));
    const token = rotate || isNewAccount ? 'renewed' : 'kept';
    const credentials = { member, address, hub, hubUid, name, namespace, owner, token, isReported, lifetimeSeconds } as const;
    const unused = await provideCredentials(credentials, { steps, clock, signal: until });
    // The hub has the new token from here on, so the Secret that it is bound to must stay.
    steps.keepCreated();
    await revokeTokens(credentials, unused, { steps, clock, signal: until });
    return [...notes, ...addressNotes(member)];
  });
}

interface Joining {
  readonly request: JoinRequest;
  readonly ports: JoinPorts;
  readonly steps: RegistrationSteps;
  readonly signal: AbortSignal;
}

/** Checks everything that can be checked before the first write. */
async function demandJoinable({ request: { name, namespace }, ports: { member, hub }, steps }: Joining) {
  const [memberUid, hubUid, registered, system] = await Promise.all([
    uidOfCluster(steps, member),
    uidOfCluster(steps, hub),
    steps.list(hub, registrationKinds.cluster),
    steps.read(hub, { resource: registrationKinds.namespace, name: namespace }),
    demandDefinition(hub, steps),
  ]);
  if (memberUid === hubUid) throw new RegistrationProblem(`${member.name} is the hub itself, which every gateway reads without joining`);
  if (system === undefined)
    throw new RegistrationProblem(
      `${hub.name}: expected the namespace ${namespace}: kubectl --context ${hub.name} create namespace ${namespace}`,
    );
  demandFreeName(registered, { name, uid: memberUid });
  return { memberUid, hubUid, existing: registered.find(({ metadata }) => metadata.name === name) };
}

/** Throws if the hub has no definition of Cluster. */
async function demandDefinition(hub: ContextCluster, steps: RegistrationSteps): Promise<void> {
  if (await steps.serves(hub, registrationKinds.cluster)) return;
  throw new RegistrationProblem(`${hub.name}: expected the kind clusters.muster.dev: kubectl --context ${hub.name} apply -f deploy/crds`);
}

/** Returns the rules for the kinds that the member serves now. */
async function rulesOf({ request, ports: { member }, steps, signal }: Joining): Promise<{
  readonly rules: readonly RightsRule[];
  readonly notes: readonly string[];
}> {
  const found = await discover(member.api, {}, signal);
  if (found.type === 'failed') throw problemOf(member, 'discovery', found.fault);
  if (found.type === 'unchanged') throw new RegistrationProblem(`${member.name}: expected the kinds that the cluster serves`);
  const before = request.rotate ? await steps.read(member, { resource: registrationKinds.clusterRole, name: memberAccount }) : undefined;
  const write = request.write || mayWriteBy(listAt(before, 'rules').filter(isJsonObject));
  const notes = found.partial.map(({ message }) => `${message}: its kinds are not readable. Join again when it answers`);
  return { rules: memberRules(found.resources, { write }), notes };
}

/** Returns a hint for an address that gateways refuse by default. */
function addressNotes({ endpoint: { server } }: ContextCluster): readonly string[] {
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  if (!isForbiddenAddress(host, { allowPrivate: [], where: 'server' })) return [];
  return ['the address of the cluster is private: the config of the gateway must allow it in allowPrivate'];
}
