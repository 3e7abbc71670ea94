import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import { manifestForWrite } from '../../../../src/propagate/plan/copies/manifest-for-write.ts';
import { deepFreeze } from '../../../support/store/store-objects.ts';
import { clusterIn, deployment, planOf } from '../snapshots.ts';

const exact = { system: 'Kubefed' } as const;

/** Returns what a replacement sends, for one chosen cluster of a plan. */
function sentOver(
  live: JsonObject,
  {
    template,
    overrides,
    mode = 'Duplicated',
  }: { readonly template: Manifest; readonly overrides: readonly JsonObject[]; readonly mode?: string },
) {
  const patches = overrides.length === 0 ? [] : [{ jsonPatch: overrides }];
  const plan = planOf({
    template: [template],
    spec: { exact, write: 'Replace', replicas: { mode }, overrides: patches },
    clusters: { a: {} },
  });
  const [object] = clusterIn(plan, 'a').objects;
  if (object === undefined) throw new Error(`expected a copy, got ${JSON.stringify(plan.notes)}`);
  const marked: Manifest = {
    ...object.desired,
    metadata: {
      ...object.desired.metadata,
      labels: { 'muster.dev/propagation': 'u' },
      annotations: { 'muster.dev/source': 'default/web' },
    },
  };
  const standing = deepFreeze({
    metadata: { name: 'web', namespace: 'default', resourceVersion: '7', ...(live.metadata as JsonObject) },
    ...withoutMetadata(live),
  });
  return manifestForWrite({ write: 'Replace', desired: marked, live: standing as KubernetesObject, exact, overriding: object.overriding });
}

function withoutMetadata({ metadata: _metadata, ...rest }: JsonObject): JsonObject {
  return rest;
}

const service: Manifest = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
  spec: {
    ports: [
      { name: 'http', protocol: 'TCP', port: 80 },
      { name: 'admin', protocol: 'TCP', port: 81 },
    ],
  },
};

describe('a replacement by the rules of KubeFed', () => {
  test('keeps the fields of the member cluster, and lets overrides win over them', () => {
    const live = {
      metadata: { labels: { 'kubefed.io/managed': 'true' }, annotations: { seen: 'theirs', note: 'old' }, finalizers: ['f'] },
      spec: {
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        ports: [
          { name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 },
          { name: 'admin', protocol: 'TCP', port: 81, nodePort: 30_081 },
        ],
      },
    };
    const outcome = sentOver(live, {
      template: service,
      overrides: [
        { op: 'replace', path: '/spec/ports/1/nodePort', value: 31_000 },
        { op: 'add', path: '/metadata/finalizers', value: ['g'] },
      ],
    });
    expect(outcome).toMatchObject({
      result: 'write',
      manifest: {
        metadata: {
          resourceVersion: '7',
          finalizers: ['g'],
          labels: { app: 'web', 'kubefed.io/managed': 'true', 'muster.dev/propagation': 'u' },
          annotations: {
            seen: 'theirs',
            note: 'old',
            'muster.dev/source': 'default/web',
            'muster.dev/managed-labels': 'muster.dev/propagation',
          },
        },
        spec: {
          clusterIP: '10.0.0.1',
          ports: [
            { name: 'http', nodePort: 30_080 },
            { name: 'admin', nodePort: 31_000 },
          ],
        },
      },
    });
  });

  test('has only the marks and the annotations of an override that sets all of them', () => {
    const overrides = [{ op: 'add', path: '/metadata/annotations', value: { foo: 'bar' } }];
    const outcome = sentOver({ metadata: { annotations: { seen: 'theirs' } } }, { template: deployment('web'), overrides });
    const { annotations } = (outcome as { readonly manifest: Manifest }).manifest.metadata;
    expect(Object.keys(annotations as JsonObject).toSorted()).toEqual([
      'foo',
      'muster.dev/managed-annotations',
      'muster.dev/managed-labels',
      'muster.dev/source',
    ]);
  });

  test('keeps the number of replicas of the member cluster with mode External', () => {
    const live = { metadata: {}, spec: { replicas: 7 } };
    expect(sentOver(live, { template: deployment('web', 2), overrides: [], mode: 'External' })).toMatchObject({
      manifest: { spec: { replicas: 7 } },
    });
    expect(sentOver(live, { template: deployment('web', 2), overrides: [] })).toMatchObject({ manifest: { spec: { replicas: 2 } } });
  });

  test('fails with the path of a field that cannot be kept', () => {
    expect(sentOver({ metadata: {}, spec: { clusterIP: 1 } }, { template: service, overrides: [] })).toMatchObject({
      result: 'failed',
      path: 'spec.clusterIP',
    });
  });
});

describe('an override by the rules of KubeFed', () => {
  const planWith = (exactly: boolean, ...jsonPatch: readonly JsonObject[]) => {
    const spec = { overrides: [{ jsonPatch }], ...(exactly ? { exact } : {}) };
    const plan = planOf({ template: [deployment('web')], spec, clusters: { a: {} } });
    return { fault: clusterIn(plan, 'a').fault?.message, desired: clusterIn(plan, 'a').objects[0]?.desired };
  };

  test('creates a missing leaf that it replaces, and replaces a list that it adds', () => {
    const paused = { op: 'replace', path: '/spec/paused', value: true };
    const containers = { op: 'add', path: '/spec/template/spec/containers', value: [{ name: 'other', image: 'b' }] };
    expect(planWith(true, paused, containers).desired).toMatchObject({
      spec: { paused: true, template: { spec: { containers: [{ name: 'other', image: 'b' }] } } },
    });
    expect(planWith(false, paused).fault).toContain('no value at "/spec/paused"');
  });

  test('may change the version, but not the kind or the name', () => {
    const version = { op: 'replace', path: '/apiVersion', value: 'apps/v1beta2' };
    expect(planWith(true, version).desired).toMatchObject({ apiVersion: 'apps/v1beta2' });
    expect(planWith(false, version).fault).toContain('cannot change apiVersion');
    expect(planWith(true, { op: 'replace', path: '/kind', value: 'ReplicaSet' }).fault).toContain('cannot change kind');
    expect(planWith(true, { op: 'replace', path: '/metadata/name', value: 'b' }).fault).toContain('cannot change metadata.name');
  });
});
