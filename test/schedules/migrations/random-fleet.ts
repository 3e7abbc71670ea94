import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { PropagationInput } from '../../../src/propagate/model/propagations.ts';

/** One application of a random fleet. */
export interface ScheduledApp {
  readonly name: string;
  readonly workload: KubernetesObject;
  /** Its other objects. Applications may share some. */
  readonly parts: readonly KubernetesObject[];
  /** Undefined: Muster does not propagate it. */
  readonly propagation?: PropagationInput;
  /** True if the selector of the migration matches. */
  readonly isSelected: boolean;
}

/** Applications in south, and the objects that were in east before. */
export interface RandomFleet {
  readonly apps: readonly ScheduledApp[];
  readonly south: readonly KubernetesObject[];
  readonly east: readonly KubernetesObject[];
}

/** Random decisions of one seed. */
export interface Dice {
  below(bound: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

export function createDice(random: () => number): Dice {
  const below = (bound: number) => Math.floor(random() * bound);
  return { below, chance: (probability) => random() < probability, pick: (items) => items[below(items.length)] as (typeof items)[number] };
}

/** The value in every Secret. It must never be on the hub. */
export const secretValue = Buffer.from('only-for-members').toString('base64');

/** The label that migrations select. */
export const movingLabels = { moves: 'yes' };

const namespace = 'default';
const shared = configMap('shared', { mode: 'shared' });

/** Makes 2 to 4 applications. The first one moves and is not propagated. */
export function createRandomFleet(dice: Dice): RandomFleet {
  const count = 2 + dice.below(3);
  const apps = Array.from({ length: count }, (_, index) => randomApp(`app-${index}`, index === 0, dice));
  const local = apps.filter(({ propagation }) => propagation === undefined);
  const objects = local.flatMap(({ workload, parts }) => [workload, ...parts]);
  return { apps, south: unique(objects), east: unique(local.slice(1).flatMap((app) => obstacleOf(app, dice))) };
}

/** Returns an object in the target that has a name of the application: a stranger, or one that is equal and can be used. */
function obstacleOf({ workload, parts }: ScheduledApp, dice: Dice): readonly KubernetesObject[] {
  if (dice.chance(0.1)) return [shared];
  if (!dice.chance(0.25)) return [];
  const { name } = dice.pick([workload, ...parts]).metadata;
  return [dice.chance(0.5) ? configMap(name, { of: 'a stranger' }) : serviceOf(name, { app: 'stranger' })];
}

function randomApp(name: string, isFirst: boolean, dice: Dice): ScheduledApp {
  const isSelected = isFirst || dice.chance(0.8);
  if (!isFirst && dice.chance(0.3)) return propagatedApp(name, isSelected, dice);
  const kind = dice.chance(0.4) ? 'StatefulSet' : 'Deployment';
  const own = configMap(name, { mode: name });
  const secret: KubernetesObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: { token: secretValue } };
  const account: KubernetesObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
  const claim: KubernetesObject = {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, namespace } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const needs = {
    configs: [...(dice.chance(0.6) ? [own] : []), ...(dice.chance(0.5) ? [shared] : [])],
    secrets: dice.chance(0.4) ? [secret] : [],
    accounts: dice.chance(0.3) ? [account] : [],
    claims: dice.chance(0.2) ? [claim] : [],
  };
  const workload = workloadOf({ name, kind, replicas: 1 + dice.below(3), isSelected }, needs);
  const services = [
    ...(kind === 'StatefulSet' ? [serviceOf(`${name}-peers`, { app: name }, { clusterIP: 'None' })] : []),
    ...(dice.chance(0.7) ? [serviceOf(name, { app: name })] : []),
  ];
  const surroundings = [
    ...(services.some((one) => one.metadata.name === name) && dice.chance(0.4) ? [ingressOf(name)] : []),
    ...(dice.chance(0.3) ? [budgetOf(name)] : []),
    ...(dice.chance(0.2) ? [autoscalerOf(name, kind)] : []),
  ];
  return { name, workload, parts: [...Object.values(needs).flat(), ...services, ...surroundings], isSelected };
}

function propagatedApp(name: string, isSelected: boolean, dice: Dice): ScheduledApp {
  const own = configMap(name, { mode: name });
  const needs = { configs: [own], secrets: [], accounts: [], claims: [] };
  const workload = workloadOf({ name, kind: 'Deployment', replicas: 2, isSelected }, needs);
  const failover = { after: '5s', return: dice.pick(['STAY', 'BACK']), returnAfter: '10s' };
  const forms: readonly JsonObject[] = [
    { placement: { clusters: ['south'] } },
    { placement: { clusters: ['south', 'west'] }, replicas: { mode: 'DIVIDED', total: 4 } },
    { placement: { exclude: ['north'] }, replicas: { mode: 'DIVIDED', total: 6 }, failover },
  ];
  const template = [{ json: own }, { json: workload }];
  const propagation = { namespace, name, template, ...dice.pick(forms) } as unknown as PropagationInput;
  return { name, workload, parts: [own], propagation, isSelected };
}

interface WorkloadForm {
  readonly name: string;
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly replicas: number;
  readonly isSelected: boolean;
}

interface WorkloadNeeds {
  readonly configs: readonly KubernetesObject[];
  readonly secrets: readonly KubernetesObject[];
  readonly accounts: readonly KubernetesObject[];
  readonly claims: readonly KubernetesObject[];
}

function workloadOf({ name, kind, replicas, isSelected }: WorkloadForm, needs: WorkloadNeeds): KubernetesObject {
  const envFrom = [
    ...needs.configs.map(({ metadata }) => ({ configMapRef: { name: metadata.name } })),
    ...needs.secrets.map(({ metadata }) => ({ secretRef: { name: metadata.name } })),
  ];
  const volumes = needs.claims.map(({ metadata }) => ({ name: metadata.name, persistentVolumeClaim: { claimName: metadata.name } }));
  const [account] = needs.accounts;
  const labels = { app: name, ...(isSelected ? movingLabels : {}) };
  const podSpec = {
    ...(account === undefined ? {} : { serviceAccountName: account.metadata.name }),
    containers: [{ name: 'main', image: 'registry.example.com/web:1.0', ...(envFrom.length === 0 ? {} : { envFrom }) }],
    ...(volumes.length === 0 ? {} : { volumes }),
  };
  return {
    ...{ apiVersion: 'apps/v1', kind, metadata: { name, namespace, labels, annotations: { team: 'web' } } },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      ...(kind === 'StatefulSet' ? { serviceName: `${name}-peers` } : {}),
      template: { metadata: { labels: { app: name } }, spec: podSpec },
    },
  };
}

function configMap(name: string, data: JsonObject): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

function serviceOf(name: string, selector: JsonObject, more: JsonObject = {}): KubernetesObject {
  const spec = { selector, ports: [{ name: 'http', port: 80 }], ...more };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec };
}

function ingressOf(name: string): KubernetesObject {
  const backend = { service: { name, port: { name: 'http' } } };
  const rules = [{ host: `${name}.example.com`, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }];
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name, namespace }, spec: { rules } };
}

function budgetOf(name: string): KubernetesObject {
  const spec = { minAvailable: 1, selector: { matchLabels: { app: name } } };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name, namespace }, spec };
}

function autoscalerOf(name: string, kind: string): KubernetesObject {
  const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind, name }, minReplicas: 1, maxReplicas: 4 };
  return { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name, namespace }, spec };
}

function unique(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return [...new Map(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object])).values()];
}
