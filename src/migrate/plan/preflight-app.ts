import { describeFault } from '../../changes/describe-fault.ts';
import type { Members } from '../../changes/members.ts';
import type { AccessReview, ObjectAddress, ObjectClient } from '../../changes/object-client.ts';
import { type Fault, fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { keyOfKind, versionOfApiVersion } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { isTokenSecret, tokenAccountOf, withoutToken, withSecretContent } from '../../manifests/secret-content.ts';
import { copyReasonOf } from '../../propagate/plan/copies/copy-reason.ts';
import { manifestToSend } from '../../propagate/plan/copies/manifest-to-send.ts';
import type { SourceObjects } from '../discover/source-objects.ts';
import type { AppPlan, PlannedTargetObject } from '../model/migration-plan.ts';
import type { MigratedAppReason } from '../model/migration-status-definition.ts';
import { keptOwned, type RenderedApp } from './render-app.ts';

/** The services and facts of the preflight of all applications of one migration. Answers of access reviews are shared between applications. */
export interface PreflightContext {
  readonly members: Pick<Members, 'objects'>;
  readonly source: SourceObjects;
  readonly from: ClusterName;
  readonly to: ClusterName;
  /** Clients with the identity of the migration. Undefined: the cluster cannot be reached. */
  readonly fromClient: ObjectClient | undefined;
  readonly toClient: ObjectClient;
  readonly sensitiveKinds: { has(kind: { readonly group: string; readonly kind: string }): boolean };
  readonly limit: ConcurrencyLimit;
  readonly reviews: Map<string, Promise<boolean | { readonly fault: Fault }>>;
}

/** The reason why an application is skipped. */
export type SkipReason = NonNullable<AppPlan['skipped']>;

/**
 * Checks whether an application can be moved: the target serves its kinds, the rights suffice for every step in both clusters, the target
 * has the namespace, and a dry run of each object succeeds. Returns the objects of the target with their actions, or
 * the first obstacle.
 */
export async function preflightApp(
  context: PreflightContext,
  app: RenderedApp,
  signal: AbortSignal,
): Promise<{ readonly target: readonly PlannedTargetObject[] } | { readonly skipped: SkipReason }> {
  const addresses = new Map<PlannedTargetObject, ObjectAddress>();
  for (const object of app.target) {
    const found = addressOf(context, object);
    if (isSkip(found)) return { skipped: found };
    addresses.set(object, found);
  }
  // The rights come first: only a caller who may create objects there learns that a namespace does not exist.
  const early = (await missingRight(context, app, signal)) ?? missingNamespace(context, app);
  if (early !== undefined) return { skipped: early };
  const checked = await Promise.all(
    [...addresses].map(([object, address]) => context.limit.run(() => dryRunTarget(context, { object, address }, signal), signal)),
  );
  signal.throwIfAborted();
  const results = checked.filter((one) => one !== undefined);
  const obstacle = results.find(isSkip);
  return obstacle === undefined ? { target: results.flatMap((one) => (isSkip(one) ? [] : [one])) } : { skipped: obstacle };
}

function addressOf(
  { members: { objects }, to, sensitiveKinds }: PreflightContext,
  { key }: PlannedTargetObject,
): ObjectAddress | SkipReason {
  const { namespace, name, apiVersion, kind } = key;
  if (sensitiveKinds.has(groupKindOfKey(key)) && kind !== 'Secret') {
    return skip('Invalid', `${shownKey(key)} is of a sensitive kind: its values cannot be copied`);
  }
  const served = objects.served(to, { apiVersion, kind });
  if (served === undefined) return skip('Unreachable', `${to} has not answered yet`);
  if (served === 'absent') return skip('ApiMissing', `${to} does not serve ${kind} of ${apiVersion}`);
  return { resource: { ...served, version: versionOfApiVersion(apiVersion) }, name, ...(namespace === undefined ? {} : { namespace }) };
}

const namespaceKind = { group: '', kind: 'Namespace' };

/** Returns the first namespace of the application that the target does not have, as the reason to skip it. */
function missingNamespace({ members: { objects }, to }: PreflightContext, { target }: RenderedApp): SkipReason | undefined {
  const namespaces = target.flatMap(({ key }) => key.namespace ?? []);
  const missing = namespaces.find((name) => objects.read(to, namespaceKind, { namespace: '', name }).result === 'absent');
  return missing === undefined ? undefined : skip('NamespaceMissing', `${to} has no namespace ${missing}, and a migration creates none`);
}

interface AddressedObject {
  readonly object: PlannedTargetObject;
  readonly address: ObjectAddress;
}

/**
 * Checks one object by a dry run of its creation. An object that exists already must be equal to the wanted one, and of one of the
 * `sharedKinds`.
 */
async function dryRunTarget(
  context: PreflightContext,
  { object, address }: AddressedObject,
  signal: AbortSignal,
): Promise<PlannedTargetObject | SkipReason> {
  const { toClient, to } = context;
  const sent = await manifestOfTarget(context, object, signal);
  if ('fault' in sent) return skipOf(sent.fault, object.key);
  const answer = await toClient.apply(
    { ...address, manifest: sent.manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'dry' },
    signal,
  );
  switch (answer.result) {
    case 'answered':
      return object;
    case 'absent':
      return skip('NamespaceMissing', `${to} has no namespace ${object.key.namespace ?? ''}`);
    case 'failed':
      if (answer.fault.code !== 'CONFLICT') return skipOf(answer.fault, object.key);
      return sharedTarget(context, { object, address, wanted: sent.manifest }, signal);
    default:
      return answer satisfies never;
  }
}

/** The kinds whose objects need not be created in the target if an equal object exists there. */
const sharedKinds: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'ServiceAccount']);

/**
 * Returns the planned object as `UNCHANGED` if the existing object is equal to the wanted one, else the reason to skip the application. The
 * data of the existing object are compared, but not stored.
 */
async function sharedTarget(
  { toClient, to }: PreflightContext,
  { object, address, wanted }: AddressedObject & { readonly wanted: Manifest },
  signal: AbortSignal,
): Promise<PlannedTargetObject | SkipReason> {
  const conflict = skip('Conflict', `${shownKey(object.key)} exists in ${to} already`);
  if (!sharedKinds.has(keyOfKind(groupKindOfKey(object.key)))) return conflict;
  const live = await toClient.get(address, signal);
  if (live.result === 'failed') return skipOf(live.fault, object.key);
  if (live.result === 'absent') return object;
  const { uid } = live.object.metadata;
  if (uid === undefined || !isEqualContent(live.object as Manifest, wanted)) return conflict;
  return { ...object, action: 'UNCHANGED', uid };
}

/**
 * Compares everything except the metadata. Members with an empty value count as absent, because API servers leave some of them out. Of token
 * Secrets, the tokens may differ, but not the ServiceAccounts.
 */
function isEqualContent(live: Manifest, wanted: Manifest): boolean {
  if (isTokenSecret(wanted) && tokenAccountOf(live) !== tokenAccountOf(wanted)) return false;
  const [a, b] = [isTokenSecret(wanted) ? withoutToken(live) : live, wanted].map(
    ({ metadata: _metadata, apiVersion: _version, kind: _kind, ...content }) => {
      const entries = Object.entries(content as Readonly<Record<string, Json>>).filter(([, value]) => !isEmptyValue(value));
      return canonicalJson(Object.fromEntries(entries));
    },
  );
  return a === b;
}

function isEmptyValue(value: Json): boolean {
  return value === null || (Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0);
}

/**
 * Returns the manifest to send for an object of the target. The data of a Secret are read from the source at this moment, with the identity
 * of the migration, or from the backup. The caller must not store or show the result.
 */
async function manifestOfTarget(
  { source, from, to, fromClient }: Pick<PreflightContext, 'source' | 'from' | 'to' | 'fromClient'>,
  { key, desired }: Pick<PlannedTargetObject, 'key' | 'desired'>,
  signal: AbortSignal,
): Promise<{ readonly manifest: Manifest } | { readonly fault: Fault }> {
  if (keyOfKind(groupKindOfKey(key)) !== 'Secret') return { manifest: desired };
  if (source.backup !== undefined) {
    const data = source.backup.secretData(key);
    return { manifest: data === undefined ? desired : withSecretContent(desired, { data }) };
  }
  const secretOf = { cluster: from, namespace: key.namespace ?? '', name: key.name };
  const sent = await manifestToSend({ desired, secretOf }, { sourceOf: () => fromClient, share: { cluster: to } }, signal);
  return sent.result === 'read' ? { manifest: sent.manifest } : { fault: sent.fault };
}

type Verb = AccessReview['verb'];
const creatingVerbs: readonly Verb[] = ['get', 'create', 'patch', 'delete'];

/**
 * Checks the rights for all steps and their undo, in the target and, if it can be reached, in the source. Returns the first missing right
 * as the reason to skip the application. Undefined if none is missing.
 */
async function missingRight(context: PreflightContext, app: RenderedApp, signal: AbortSignal): Promise<SkipReason | undefined> {
  const { members, source, from, to, fromClient, toClient } = context;
  const keys = app.target.map(({ key }) => key);
  const wanted = [toClient, ...(fromClient === undefined ? [] : [fromClient])].flatMap((client) =>
    keys.flatMap((key) => {
      const resource = members.objects.served(client === toClient ? to : from, groupKindOfKey(key));
      if (resource === undefined || resource === 'absent') return [];
      return creatingVerbs.map((verb) => ({ client, review: { resource, namespace: key.namespace, verb } }));
    }),
  );
  // An object that the application owns gets its owner reference removed, so that it stays.
  const kept = fromClient === undefined ? [] : keptOwned(app, source).map(({ key }) => ({ key, client: fromClient }));
  const patched = kept.flatMap(({ key, client }) => {
    const resource = members.objects.served(from, groupKindOfKey(key));
    if (resource === undefined || resource === 'absent') return [];
    return (['get', 'patch'] as const).map((verb) => ({ client, review: { resource, namespace: key.namespace, verb } }));
  });
  const answers = await Promise.all(
    [...wanted, ...patched].map(async ({ client, review }) => ({
      client,
      review,
      allowed: await reviewOnce(context, client, review, signal),
    })),
  );
  signal.throwIfAborted();
  const refused = answers.find(({ allowed }) => allowed !== true);
  if (refused === undefined) return undefined;
  const { client, review, allowed } = refused;
  const { resource, namespace, verb } = review;
  const what = `${verb} ${resource.resource}${namespace === undefined ? '' : ` in namespace ${namespace}`} of ${client.cluster}`;
  if (allowed === false || allowed === true) return skip('Denied', `not allowed to ${what}`);
  return { ...skipOf(allowed.fault, undefined), message: `the check for permission to ${what} failed: ${describeFault(allowed.fault)}` };
}

function reviewOnce(
  { reviews, limit }: PreflightContext,
  client: ObjectClient,
  review: AccessReview,
  signal: AbortSignal,
): Promise<boolean | { readonly fault: Fault }> {
  const { resource, namespace, verb } = review;
  const key = JSON.stringify([client.cluster, resource.group, resource.resource, namespace ?? null, verb]);
  const late = fault('TIMED_OUT', 'the check has not ended in time', { cluster: client.cluster, retry: 'LATER' });
  const answer = reviews.get(key) ?? limit.run(() => client.may(review, signal), signal).then((allowed) => allowed ?? { fault: late });
  reviews.set(key, answer);
  return answer;
}

function skipOf(cause: Fault, key: ObjectKey | undefined): SkipReason {
  const message = `${key === undefined ? '' : `${shownKey(key)}: `}${describeFault(cause)}`;
  return skip(preflightReasonOf(cause), message);
}

/** Returns the reason with which a fault skips an application. */
function preflightReasonOf(cause: Fault): MigratedAppReason {
  const reason = copyReasonOf(cause);
  switch (reason) {
    case 'Conflict':
    case 'NamespaceMissing':
    case 'ApiMissing':
    case 'Denied':
    case 'Unreachable':
      return reason;
    case 'Quota':
      return 'Capacity';
    default:
      return 'Invalid';
  }
}

function isSkip(value: object): value is SkipReason {
  return 'reason' in value;
}

function skip(reason: MigratedAppReason, message: string): SkipReason {
  return { reason, message };
}

/** Returns a key as messages show it: `ConfigMap shop/settings`. */
export function shownKey({ kind, namespace, name }: ObjectKey): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
