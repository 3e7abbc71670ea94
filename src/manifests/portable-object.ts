import type { Json, JsonObject } from '../core/json.ts';
import { listAt, textAt, valueAt } from '../core/json-at.ts';
import { groupOfApiVersion } from '../core/kinds.ts';
import { withoutMembers, withoutValueAt, withValueAt } from './json-edits.ts';
import { isTokenSecret, withoutToken } from './secret-content.ts';

export interface PortableOptions {
  /**
   * True: `ttlSecondsAfterFinished` of a Job is removed. With it, the cluster would delete the finished Job, and Muster would create the
   * Job again. False: it stays. Default: true.
   */
  readonly removeJobTtl?: boolean;
  /**
   * True: of several token Secrets that follow each other in the list of a ServiceAccount, every second one stays, as in Karmada. False:
   * all token Secrets are removed. Default: false.
   */
  readonly keepsSecondToken?: boolean;
}

/**
 * Returns the object without the fields that a server fills in (docs/internals/propagation.md 3.1), so that it can be a template for other
 * clusters. Also removes maps and lists that become empty. The given object is not changed, and the result shares its members.
 *
 * The rules of a kind apply only in the API group of that kind. They also apply to an object without `apiVersion`, such as an item of a
 * list.
 */
export function portableOf<T extends JsonObject>(object: T, { removeJobTtl = true, keepsSecondToken = false }: PortableOptions = {}): T {
  const common = withoutValueAt(withoutServerFields(object), ['metadata', 'finalizers']);
  const { kind } = object;
  const rule = typeof kind === 'string' ? rules.get(kind) : undefined;
  if (rule === undefined || (typeof object.apiVersion === 'string' && groupOfApiVersion(object.apiVersion) !== rule.group)) return common;
  return rule.prune(common, { removeJobTtl, keepsSecondToken });
}

/**
 * Returns the object without its status and without the metadata that is specific to one cluster. `finalizers` stay. The given object is
 * not changed.
 */
export function withoutServerFields<T extends JsonObject>(object: T): T {
  return withoutAll(object, serverFields);
}

const serverFields: readonly (readonly string[])[] = [
  ['status'],
  ...[
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'managedFields',
    'resourceVersion',
    'selfLink',
    'uid',
    'ownerReferences',
  ].map((key) => ['metadata', key]),
];

interface KindRule {
  readonly group: string;
  readonly prune: <T extends JsonObject>(object: T, options: Required<PortableOptions>) => T;
}

const rules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ['Deployment', { group: 'apps', prune: (object) => withoutAll(object, revisions) }],
  ['Job', { group: 'batch', prune: pruneJob }],
  ['Service', { group: '', prune: pruneService }],
  ['ServiceAccount', { group: '', prune: pruneServiceAccount }],
  ['Secret', { group: '', prune: (object) => (isTokenSecret(object) ? withoutToken(object) : object) }],
  ['PersistentVolumeClaim', { group: '', prune: (object) => withoutAll(object, [annotation('volume.kubernetes.io/selected-node')]) }],
]);

const revisions = [annotation('deployment.kubernetes.io/revision'), annotation('deployment.kubernetes.io/revision-history')];

const controllerUids = ['controller-uid', 'batch.kubernetes.io/controller-uid'];
const jobNames = ['job-name', 'batch.kubernetes.io/job-name'];
const jobLabels = [
  ...controllerUids.map((label) => ['spec', 'selector', 'matchLabels', label]),
  ...[...controllerUids, ...jobNames].map((label) => ['spec', 'template', 'metadata', 'labels', label]),
];

function pruneJob<T extends JsonObject>(job: T, { removeJobTtl }: Required<PortableOptions>): T {
  const lasting = removeJobTtl ? withoutValueAt(job, ['spec', 'ttlSecondsAfterFinished']) : job;
  return valueAt(lasting, 'spec', 'manualSelector') === true ? lasting : withoutAll(lasting, jobLabels);
}

function pruneService<T extends JsonObject>(service: T): T {
  if (valueAt(service, 'spec', 'clusterIP') === 'None') return service;
  return withoutAll(service, [
    ['spec', 'clusterIP'],
    ['spec', 'clusterIPs'],
  ]);
}

/** Removes the token Secrets that a controller created for the account. */
function pruneServiceAccount<T extends JsonObject>(account: T, { keepsSecondToken }: Required<PortableOptions>): T {
  const secrets = listAt(account, 'secrets');
  const made = `${textAt(account, 'metadata', 'name') ?? ''}-token-`;
  const kept: Json[] = [];
  let isSecond = false;
  for (const secret of secrets) {
    const isRemoved: boolean = !isSecond && textAt(secret, 'name')?.startsWith(made) === true;
    if (!isRemoved) kept.push(secret);
    isSecond = keepsSecondToken && isRemoved;
  }
  if (kept.length === secrets.length) return account;
  return kept.length === 0 ? withoutMembers(account, ['secrets']) : withValueAt(account, ['secrets'], kept);
}

function withoutAll<T extends JsonObject>(object: T, paths: readonly (readonly string[])[]): T {
  return paths.reduce((left, path) => withoutValueAt(left, path), object);
}

function annotation(key: string): readonly string[] {
  return ['metadata', 'annotations', key];
}
