import { discover } from '../cluster/discovery.ts';
import { isForbiddenAddress } from '../cluster/transport/public-addresses.ts';
import type { Clock } from '../core/clock.ts';
import { isJsonObject } from '../core/json.ts';
import { listAt } from '../core/json-at.ts';
import { demandFirstName, demandFreeName, hasLeader, otherNamesOf, uidOfCluster } from './joined-clusters.ts';
import { clusterObject, memberAccount, memberNamespace, memberObjects } from './joined-objects.ts';
import { addressOfMember, isBound, ownSelector, provideCredentials, revokeTokens } from './member-credentials.ts';
import { mayWriteBy, memberRules, type RightsRule } from './member-rights.ts';
import { registrationKinds } from './registration-kinds.ts';
import { type RegistrationResult, runRegistration } from './registration-result.ts';
import { type ContextCluster, type CreatedObject, problemOf, RegistrationProblem, type RegistrationSteps } from './registration-steps.ts';

/** The request of `muster join`. */
export interface JoinRequest {
  /** The name of the Cluster on the hub. */
  readonly name: string;
  /** The system namespace of the hub. */
  readonly namespace: string;
  /** The labels, region and provider of the cluster. Each that is undefined keeps the value of the existing Cluster, if there is one. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly region?: string | undefined;
  readonly provider?: string | undefined;
  /** True: the account may also write. If false, the account may only read; with `rotate`, it keeps the rights to write that it has. */
  readonly write: boolean;
  /** True: makes a new token and revokes the old one. False: keeps a token that can still be used. */
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
 * Registers a cluster on the hub. Makes an account with rights and a token in the member, and a Cluster with its Secret on the hub. Objects that are
 * already as wanted stay unchanged. A token that can still be used stays, unless `rotate` asks for a new one.
 *
 * If a step fails, deletes the objects that this run has created. Takes at most two minutes, and 20 s more to undo.
 */
export async function joinCluster(request: JoinRequest, ports: JoinPorts, signal: AbortSignal): Promise<RegistrationResult> {
  const { dryRun, name, namespace, rotate, lifetimeSeconds } = request;
  const { member, hub, clock } = ports;
  const undoFilter = (steps: RegistrationSteps) => objectsInUse(steps, { member, hub, name });
  return runRegistration({ dryRun, clock, signal, undoFilter }, async (steps, workSignal) => {
    const joining = { request, ports, steps, signal: workSignal };
    const address = await addressOfMember(member);
    const { memberUid, hubUid, registered } = await demandJoinable(joining);
    await awaitNamespaceDeletion(joining);
    const { rules, notes } = await rulesOf(joining);
    for (const planned of memberObjects(rules)) await steps.apply(member, planned);
    const owner = await steps.applyWith(hub, { resource: registrationKinds.cluster, name }, (before) => {
      // Another join may have taken the name since the first check.
      const others = registered.filter(({ metadata }) => metadata.name !== name);
      demandFreeName(before === undefined ? others : [...others, before], { name, uid: memberUid });
      return clusterObject({ ...request, uid: memberUid }, before).manifest;
    });
    if (!dryRun) demandFirstName(await steps.list(hub, registrationKinds.cluster), { name, uid: memberUid });
    const isNewAccount = steps.hasCreated(member, { kind: 'ServiceAccount', name: memberAccount });
    const token = rotate || isNewAccount ? 'renewed' : 'kept';
    const leads = await hasLeader(steps, hub, namespace);
    const credentials = { member, address, hub, hubUid, name, namespace, owner, token, hasLeader: leads, lifetimeSeconds } as const;
    const provided = await provideCredentials(credentials, { steps, clock, signal: workSignal });
    // The hub has the new token from here on. The Secret to which it is bound must stay even if a later step fails.
    steps.keepCreated();
    await revokeTokens(credentials, provided, { steps, clock, signal: workSignal });
    return [...notes, ...addressNotes(member)];
  });
}

/**
 * Returns a filter for the objects in the member that an undo must keep because another join uses them: the account and its rights. Another join uses
 * them if the member has a bound Secret that this run has not made, or if the hub has a Cluster of the same member under another name.
 */
async function objectsInUse(
  steps: RegistrationSteps,
  { member, hub, name }: { readonly member: ContextCluster; readonly hub: ContextCluster; readonly name: string },
): Promise<(created: CreatedObject) => boolean> {
  const { secret } = registrationKinds;
  const secrets = await steps.list(member, secret, { namespace: memberNamespace, labels: ownSelector });
  const foreign = secrets.filter((one) => isBound(one) && !steps.hasCreated(member, { kind: 'Secret', name: one.metadata.name }));
  const [uid, registered] = await Promise.all([uidOfCluster(steps, member), steps.list(hub, registrationKinds.cluster)]);
  const isUsed = foreign.length > 0 || otherNamesOf(registered, { name, uid }).length > 0;
  return ({ cluster, address }) => isUsed && cluster === member && address.resource !== secret;
}

interface JoinContext {
  readonly request: JoinRequest;
  readonly ports: JoinPorts;
  readonly steps: RegistrationSteps;
  readonly signal: AbortSignal;
}

/**
 * Checks everything that can be checked before the first write, and returns what the checks have read.
 *
 * @throws {RegistrationProblem} for the first failed check.
 */
async function demandJoinable({ request: { name, namespace }, ports: { member, hub }, steps }: JoinContext) {
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
  return { memberUid, hubUid, registered };
}

/** Milliseconds that a join waits at most for the deletion of the namespace in the member, and between two reads of it. */
const deletionMs = 30_000;
const deletionPollMs = 500;

/**
 * If the namespace in the member is being deleted, as it is for some seconds after `muster leave`, waits until it is gone.
 *
 * @throws {RegistrationProblem} if it still exists after 30 s.
 */
async function awaitNamespaceDeletion({ ports: { member, clock }, steps, signal }: JoinContext): Promise<void> {
  const untilMs = clock.monotonic() + deletionMs;
  const namespace = { resource: registrationKinds.namespace, name: memberNamespace };
  while ((await steps.read(member, namespace))?.metadata.deletionTimestamp !== undefined) {
    if (clock.monotonic() >= untilMs)
      throw new RegistrationProblem(
        `${member.name}: namespace/${memberNamespace} is being deleted: expected it to be gone within ${deletionMs / 1_000} s. Run the command again later`,
      );
    await clock.sleep(deletionPollMs, signal);
  }
}

/** @throws {RegistrationProblem} if the hub does not serve the kind Cluster. */
async function demandDefinition(hub: ContextCluster, steps: RegistrationSteps): Promise<void> {
  if (await steps.serves(hub, registrationKinds.cluster)) return;
  throw new RegistrationProblem(`${hub.name}: expected the kind clusters.muster.dev: kubectl --context ${hub.name} apply -f deploy/crds`);
}

/**
 * Returns the rules for the kinds that the member serves now. The notes name each API group that did not answer discovery, and the loss of rights to
 * write.
 */
async function rulesOf({ request, ports: { member }, steps, signal }: JoinContext): Promise<{
  readonly rules: readonly RightsRule[];
  readonly notes: readonly string[];
}> {
  const found = await discover(member.api, {}, signal);
  if (found.type === 'failed') throw problemOf(member, 'discovery', found.fault);
  if (found.type === 'unchanged') throw new RegistrationProblem(`${member.name}: expected the kinds that the cluster serves`);
  const before = await steps.read(member, { resource: registrationKinds.clusterRole, name: memberAccount });
  const couldWrite = mayWriteBy(listAt(before, 'rules').filter(isJsonObject));
  const write = request.write || (request.rotate && couldWrite);
  const notes = found.partial.map(({ message }) => `${message}: its kinds are not readable. Join again when it answers`);
  const lost = 'the account could write and no longer can, because --write is missing. Propagations need it: join again with --write';
  return { rules: memberRules(found.resources, { write }), notes: couldWrite && !write ? [...notes, lost] : notes };
}

/** Returns notes about what the gateways of the hub need before they can reach the member, which this command has reached from here. */
function addressNotes({ endpoint: { server, proxyUrl } }: ContextCluster): readonly string[] {
  const notes: string[] = [];
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  if (isForbiddenAddress(host, { allowPrivate: [], where: 'server' }))
    notes.push('the address of the cluster is private: the config of the gateway must allow it in allowPrivate');
  if (proxyUrl !== undefined)
    notes.push(
      'this command reached the cluster through a proxy, which is not registered: a gateway that needs a proxy takes it from its own HTTPS_PROXY',
    );
  return notes;
}
