import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { textOfKey } from '../../../src/manifests/object-key.ts';
import { partsOf } from '../../../src/migrate/discover/app-parts.ts';
import { findApps, neededByOthers, outsideHolderOf } from '../../../src/migrate/discover/find-apps.ts';
import { type DiscoveredObject, indexSourceObjects } from '../../../src/migrate/discover/source-objects.ts';
import { type MigrationSpec, parseMigrationSpec } from '../../../src/migrate/model/migration.ts';

function object(apiVersion: string, kind: string, name: string, rest: JsonObject = {}, namespace = 'shop'): DiscoveredObject {
  const { metadata = {}, ...members } = rest;
  const whole = { apiVersion, kind, metadata: { name, namespace, uid: `${kind}-${name}`, ...(metadata as JsonObject) }, ...members };
  return { key: { apiVersion, kind, namespace, name }, object: whole as unknown as KubernetesObject };
}
const template = (app: string, spec: JsonObject = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c' }], ...spec },
});
const deployment = (name: string, spec: JsonObject = {}, labels: JsonObject = { app: name }) =>
  object('apps/v1', 'Deployment', name, { metadata: { labels }, spec: { template: template(name, spec) } });
const envFrom = (...maps: readonly string[]) => ({
  containers: [{ name: 'c', envFrom: maps.map((name) => ({ configMapRef: { name } })) }],
});
const service = (name: string, selector: JsonObject, more: JsonObject = {}) =>
  object('v1', 'Service', name, { spec: { selector, ...more } });
const ingress = (name: string, backend: string, spec: JsonObject = {}) =>
  object('networking.k8s.io/v1', 'Ingress', name, {
    spec: { rules: [{ http: { paths: [{ backend: { service: { name: backend } } }] } }], ...spec },
  });
const names = (objects: readonly DiscoveredObject[]) => objects.map(({ key }) => `${key.kind} ${key.name}`).toSorted();
const specOf = (more: Readonly<Record<string, Json>>): MigrationSpec => {
  const spec = parseMigrationSpec({ from: 'east', to: 'west', ...more });
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  return spec;
};

describe('an application', () => {
  test('has its dependencies, Services, Ingresses, autoscalers and disruption budgets', () => {
    const shop = deployment('shop', {
      ...envFrom('conf', 'absent', 'kube-root-ca.crt'),
      serviceAccountName: 'shop',
      volumes: [{ persistentVolumeClaim: { claimName: 'data' } }],
    });
    const scaled = (name: string, kind = 'Deployment') =>
      object('autoscaling/v2', 'HorizontalPodAutoscaler', name, {
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind, name: 'shop' } },
      });
    const budget = (name: string, selector: JsonObject) => object('policy/v1', 'PodDisruptionBudget', name, { spec: { selector } });
    const source = indexSourceObjects([
      shop,
      ...['conf', 'kube-root-ca.crt', 'other'].map((name) => object('v1', 'ConfigMap', name)),
      ...[object('v1', 'ServiceAccount', 'shop'), object('v1', 'PersistentVolumeClaim', 'data'), object('v1', 'Secret', 'tls')],
      ...[
        service('shop', { app: 'shop' }),
        service('none', {}),
        service('else', { app: 'else' }),
        object('v1', 'ConfigMap', 'conf', {}, 'elsewhere'),
      ],
      ...[ingress('way', 'shop', { tls: [{ secretName: 'tls' }] }), ingress('other', 'else')],
      ...[scaled('auto'), scaled('of-set', 'StatefulSet'), budget('keep', { matchLabels: { app: 'shop' } }), budget('all', {})],
    ]);
    expect(names(partsOf(shop, source))).toEqual([
      'ConfigMap conf',
      'HorizontalPodAutoscaler auto',
      'Ingress way',
      'PersistentVolumeClaim data',
      'PodDisruptionBudget keep',
      'Secret tls',
      'Service shop',
      'ServiceAccount shop',
    ]);
  });

  test('has the Service that a StatefulSet names, and the Deployment to which a Rollout refers', () => {
    const set = object('apps/v1', 'StatefulSet', 'queue', { spec: { serviceName: 'peers', template: template('queue') } });
    const base = deployment('base', envFrom('conf'));
    const rollout = object('argoproj.io/v1alpha1', 'Rollout', 'cart', {
      spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'base' } },
    });
    const source = indexSourceObjects([
      set,
      base,
      rollout,
      service('peers', {}),
      service('base', { app: 'base' }),
      object('v1', 'ConfigMap', 'conf'),
    ]);
    expect(names(partsOf(set, source))).toEqual(['Service peers']);
    expect(names(partsOf(rollout, source))).toEqual(['ConfigMap conf', 'Deployment base', 'Service base']);
  });
});

describe('the applications of a migration', () => {
  const owned = object('apps/v1', 'Deployment', 'owned', {
    metadata: { labels: { team: 'a' }, ownerReferences: [{ apiVersion: 'x/v1', kind: 'X', name: 'x', uid: '1', controller: true }] },
  });
  const all = [...['c', 'a', 'b'].map((name) => deployment(name, {}, { team: 'a' })), deployment('d', {}, { team: 'd' }), owned];
  const source = indexSourceObjects([...all, object('apps/v1', 'DaemonSet', 'each', { metadata: { labels: { team: 'a' } } })]);
  const labels = { matchLabels: { team: 'a' } };

  test('are the workloads that the selector finds, without those that a controller owns', () => {
    const { apps } = findApps(specOf({ labels }), 'shop', source);
    expect(apps.map(({ key }) => `${key.kind} ${key.name}`)).toEqual(['Deployment a', 'Deployment b', 'Deployment c']);
    expect(findApps(specOf({ labels }), 'default', source).apps).toEqual([]);
    expect(findApps(specOf({ labels, namespaces: ['shop', 'other'] }), 'default', source).apps).toHaveLength(3);
  });

  test('move in the order of priority, then of namespace and name', () => {
    const { apps, unknown } = findApps(specOf({ labels, priority: ['shop/c', 'x', 'b'] }), 'shop', source);
    expect([apps.map(({ key }) => key.name), unknown]).toEqual([['c', 'b', 'a'], ['x']]);
  });

  test('are those that the spec names, once each, also if they do not exist', () => {
    const named = (name: string, more: JsonObject = {}) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name, ...more });
    const apps = [named('d'), named('d', { namespace: 'shop' }), named('gone'), named('a', { uid: 'another' })];
    const found = findApps(specOf({ apps }), 'shop', source).apps;
    expect(found.map(({ key, workload }) => [key.name, workload !== undefined])).toEqual([
      ['a', false],
      ['d', true],
      ['gone', false],
    ]);
  });
});

describe('objects that other workloads need', () => {
  const needed = (objects: readonly DiscoveredObject[], moving: DiscoveredObject) => {
    const source = indexSourceObjects(objects);
    const leaving = { moving: new Set([textOfKey(moving.key)]) };
    const set = neededByOthers(source, { ...leaving, namespaces: ['shop'] });
    // The check of one object has the same result as the check of all.
    const keys = objects.map(({ key }) => key);
    expect(keys.filter((key) => outsideHolderOf(key, source, leaving) !== undefined)).toEqual(
      keys.filter((key) => set.has(textOfKey(key))),
    );
    return [...set].map((text) => text.split('/').at(-1)).toSorted();
  };
  const shop = deployment('shop', envFrom('own', 'common'));
  const maps = ['own', 'common', 'job'].map((name) => object('v1', 'ConfigMap', name));

  test('are those of every workload that does not move', () => {
    const job = object('batch/v1', 'CronJob', 'nightly', {
      spec: { jobTemplate: { spec: { template: template('nightly', envFrom('job')) } } },
    });
    expect(needed([shop, ...maps, deployment('other', envFrom('common')), job], shop)).toEqual(['common', 'job']);
  });

  test('are the Secrets of ServiceAccounts that stay', () => {
    const own = deployment('shop', { serviceAccountName: 'shop', imagePullSecrets: [{ name: 'pull' }] });
    const pull = { imagePullSecrets: [{ name: 'pull' }] };
    const common = [own, object('v1', 'Secret', 'pull')];
    expect(needed([...common, object('v1', 'ServiceAccount', 'shop', pull)], own)).toEqual([]);
    expect(needed([...common, object('v1', 'ServiceAccount', 'default', pull)], own)).toEqual(['pull']);
    expect(names(partsOf(own, indexSourceObjects([...common, object('v1', 'ServiceAccount', 'shop', pull)])))).toContain('Secret pull');
  });

  test('are the ServiceAccounts of token Secrets that stay', () => {
    const annotations = { 'kubernetes.io/service-account.name': 'robot' };
    const mounts = { volumes: [{ secret: { secretName: 'token' } }] };
    const own = deployment('shop', { ...mounts, serviceAccountName: 'shop' });
    const token = (name: string) => object('v1', 'Secret', name, { metadata: { annotations } });
    const account = object('v1', 'ServiceAccount', 'robot', { secrets: [{ name: 'listed' }] });
    const all = [own, account, token('token'), token('listed')];
    expect(names(partsOf(own, indexSourceObjects(all)))).toEqual(['Secret token', 'ServiceAccount robot']);
    expect(needed(all, own)).toEqual([]);
    expect(needed([...all, token('outside')], own)).toContain('robot');
    expect(needed([...all, deployment('other', mounts)], own)).toEqual(['listed', 'robot', 'token']);
    const holder = outsideHolderOf(account.key, indexSourceObjects([...all, token('outside')]), {
      leaving: new Set([textOfKey(account.key)]),
    });
    expect(holder?.key.name).toBe('outside');
  });

  test('are the Secrets of Ingresses that stay, and Ingresses that also lead to Services that stay', () => {
    const tls = { tls: [{ secretName: 'tls' }] };
    const common = [shop, service('shop', { app: 'shop' }), object('v1', 'Secret', 'tls')];
    expect(needed([...common, ingress('shop', 'shop', tls)], shop)).toEqual([]);
    expect(needed([...common, ingress('shop', 'shop', tls), ingress('outside', 'external', tls)], shop)).toEqual(['outside', 'tls']);
    const both = ingress('both', 'shop', { ...tls, defaultBackend: { service: { name: 'external' } } });
    expect(needed([...common, both, service('external', {}, { type: 'ExternalName' })], shop)).toEqual(['both', 'tls']);
  });

  test('are not those of Pods and ReplicaSets of a workload that moves, or of Pods that have ended', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'shop-1', uid: '1', controller: true };
    const set = object('apps/v1', 'ReplicaSet', 'shop-1', {
      metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop', uid: '1', controller: true }] },
      spec: { template: template('shop', envFrom('own')) },
    });
    const pod = object('v1', 'Pod', 'shop-1-x', { metadata: { ownerReferences: [owner] }, spec: envFrom('own') });
    const ended = object('v1', 'Pod', 'once', { spec: envFrom('own'), status: { phase: 'Succeeded' } });
    expect(needed([shop, ...maps, set, pod, ended], shop)).toEqual([]);
    expect(needed([shop, ...maps, object('v1', 'Pod', 'alone', { spec: envFrom('own') })], shop)).toEqual(['own']);
  });
});
