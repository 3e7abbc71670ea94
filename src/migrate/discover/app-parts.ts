import type { V1Ingress, V1IngressServiceBackend, V1Service } from '@kubernetes/client-node';
import type { JsonObject } from '../../core/json.ts';
import { labelsAt, listAt, textAt, valueAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { labelSelectorOf } from '../../core/label-selectors.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import { itemsOf, type Stored, textOrUndefined } from '../../core/stored.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { kindTextOf } from '../../manifests/pod-specs.ts';
import { tokenAccountOf } from '../../manifests/secret-content.ts';
import { dependenciesOf } from '../../propagate/plan/snapshot/dependencies.ts';
import { partKinds } from './app-kinds.ts';
import type { DiscoveredObject, SourceObjects } from './source-objects.ts';

/**
 * Returns the existing objects that belong to a workload, each once:
 *
 * - the objects that its pod template uses, the ServiceAccounts of its token Secrets, and the pull Secrets of its ServiceAccount
 * - the Services that select its Pods, and the Service in its `serviceName`
 * - the Ingresses that lead to these Services, and their TLS Secrets
 * - its autoscalers and disruption budgets
 * - the Deployment that has the pod template of an Argo Rollout with `workloadRef`
 *
 * The workload itself is not included.
 */
export function partsOf(workload: DiscoveredObject, source: SourceObjects): readonly DiscoveredObject[] {
  const template = templateHolderOf(workload, source);
  const near = neighboursOf(source, workload.key.namespace);
  const labels = podLabelsOf(template.object);
  const services = near(partKinds.service).filter(({ key, object }) => selectsPods(object, labels) || key.name === serviceNameOf(workload));
  const names = new Set(services.map(({ key }) => key.name));
  const ingresses = near(partKinds.ingress).filter(({ object }) => backendsOf(object).some((name) => names.has(name)));
  const autoscalers = near(partKinds.autoscaler).filter(({ object }) => scales(object, workload.key));
  const budgets = near(partKinds.disruptionBudget).filter(({ object }) => protects(object, labels));
  const holders = [template, ...ingresses];
  const needed = holders.flatMap(({ object }) => dependenciesOf(object as Manifest)).filter(isCopied);
  const existing = needed.flatMap((key) => near(groupKindOfKey(key)).find((one) => one.key.name === key.name) ?? []);
  const tokenAccounts = existing.filter(isSecret).flatMap(({ object }) => tokenAccountOf(object as JsonObject) ?? []);
  // Without its ServiceAccount, the target would delete the token Secret. The account `default` exists in every namespace.
  const accounts = near(partKinds.serviceAccount).filter(({ key: { name } }) => name !== 'default' && tokenAccounts.includes(name));
  const pulls = existing.filter(isServiceAccount).flatMap(({ object }) => secretNamesOf(object, ['imagePullSecrets']));
  const pullSecrets = near(partKinds.secret).filter(({ key }) => pulls.includes(key.name));
  const referenced = template === workload ? [] : [template];
  const parts = [...existing, ...accounts, ...pullSecrets, ...services, ...referenced, ...autoscalers, ...budgets, ...ingresses];
  return [...new Map(parts.map((part) => [textOfKey(part.key), part])).values()];
}

/**
 * Returns the object that has the pod template of a workload: the workload itself, or the Deployment to which `spec.workloadRef` of an Argo
 * Rollout refers.
 */
export function templateHolderOf(workload: DiscoveredObject, source: SourceObjects): DiscoveredObject {
  if (kindTextOf(workload.object) !== 'Rollout.argoproj.io') return workload;
  const { apiVersion = '', kind = '', name = '' } = (valueAt(workload.object, 'spec', 'workloadRef') ?? {}) as Partial<ObjectKey>;
  if (name === '') return workload;
  const near = neighboursOf(source, workload.key.namespace);
  return near(groupKindOfKey({ apiVersion, kind })).find(({ key }) => key.name === name) ?? workload;
}

/** Returns the labels of the Pods that a workload creates. For a Pod, its own labels. */
function podLabelsOf(object: JsonObject): Readonly<Record<string, string>> {
  switch (kindTextOf(object)) {
    case 'Pod':
      return labelsAt(object, 'metadata', 'labels');
    case 'CronJob.batch':
      return labelsAt(object, 'spec', 'jobTemplate', 'spec', 'template', 'metadata', 'labels');
    default:
      return labelsAt(object, 'spec', 'template', 'metadata', 'labels');
  }
}

/** True for a Service without an IP of its own. Its Pods are found by their names. */
function isHeadless(object: JsonObject): boolean {
  return valueAt(object, 'spec', 'clusterIP') === 'None';
}

/** True if the object receives traffic from outside the application: an Ingress, or a Service that is not headless. */
export function isTrafficPart({ key, object }: Pick<DiscoveredObject, 'key'> & { readonly object: JsonObject }): boolean {
  const kind = keyOfKind(groupKindOfKey(key));
  return kind === keyOfKind(partKinds.ingress) || (kind === keyOfKind(partKinds.service) && !isHeadless(object));
}

/** This ConfigMap is not copied: the controller manager writes it to every namespace of every cluster. */
const clusterCertificates = 'kube-root-ca.crt';

function isCopied({ kind, name }: ObjectKey): boolean {
  return kind !== 'ConfigMap' || name !== clusterCertificates;
}

function neighboursOf(source: SourceObjects, namespace: string | undefined) {
  return (kind: GroupKind) => source.all(kind, namespace ?? '');
}

function selectsPods(service: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const { spec }: Stored<V1Service> = service;
  const wanted = Object.entries(labelsAt({ selector: spec?.selector ?? {} }, 'selector'));
  return wanted.length > 0 && wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

function serviceNameOf({ object }: DiscoveredObject): string | undefined {
  return kindTextOf(object) === 'StatefulSet.apps' ? textAt(object, 'spec', 'serviceName') : undefined;
}

function isSecret({ key }: DiscoveredObject): boolean {
  return keyOfKind(groupKindOfKey(key)) === keyOfKind(partKinds.secret);
}

function isServiceAccount({ key }: DiscoveredObject): boolean {
  return keyOfKind(groupKindOfKey(key)) === keyOfKind(partKinds.serviceAccount);
}

/** Returns the names of the Secrets that a ServiceAccount refers to in these fields. */
export function secretNamesOf(account: JsonObject, fields: readonly ('imagePullSecrets' | 'secrets')[]): readonly string[] {
  return fields.flatMap((field) => listAt(account, field)).flatMap((one) => textAt(one, 'name') ?? []);
}

/** Returns the names of the Services to which an Ingress leads. */
export function backendsOf(ingress: JsonObject): readonly string[] {
  const { spec }: Stored<V1Ingress> = ingress;
  const nameOf = (service: Stored<V1IngressServiceBackend> | undefined) => textOrUndefined(service?.name) ?? [];
  const paths = itemsOf(spec?.rules).flatMap(({ http }) => itemsOf(http?.paths));
  return [...paths.flatMap(({ backend }) => nameOf(backend?.service)), ...[nameOf(spec?.defaultBackend?.service)].flat()];
}

function scales(autoscaler: JsonObject, { apiVersion, kind, name }: ObjectKey): boolean {
  const target = valueAt(autoscaler, 'spec', 'scaleTargetRef');
  const targetKind = keyOfKind(groupKindOfKey({ apiVersion: textAt(target, 'apiVersion') ?? '', kind: textAt(target, 'kind') ?? '' }));
  return targetKind === keyOfKind(groupKindOfKey({ apiVersion, kind })) && textAt(target, 'name') === name;
}

/**
 * True if a disruption budget selects Pods with these labels. False for an empty selector: in policy/v1, it selects every Pod of the
 * namespace, so the budget belongs to no single application.
 */
function protects(budget: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const selector = labelSelectorOf(valueAt(budget, 'spec', 'selector') as Parameters<typeof labelSelectorOf>[0]);
  return selector !== undefined && selector.requirements.length > 0 && matchesLabelSelector(selector, labels);
}
