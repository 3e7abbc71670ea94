import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equalJson } from '../../../../src/core/json/json-values.ts';
import { type Json, type JsonObject, parseJsonExactly } from '../../../../src/core/json.ts';
import { listRulesIn } from '../../../../src/manifests/list-rules.ts';
import { mergePatchByKeys } from '../../../../src/manifests/merge-patch.ts';
import { haveEqualSentParts, sentHashOf, sentPartOf } from '../../../../src/propagate/plan/copies/sent-fields.ts';
import { jsonText } from '../../../support/arbitrary-json.ts';
import { loadBaseline } from '../../../support/kubernetes-objects.ts';
import { deepFreeze } from '../../../support/store/store-objects.ts';

const model = loadBaseline();
const rulesOf = listRulesIn(() => model);
const deploymentRules = rulesOf({ group: 'apps', kind: 'Deployment' });

const desired: JsonObject = deepFreeze({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'nginx:1.25',
            ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }],
            env: [{ name: 'A', value: '1' }],
            resources: { requests: { cpu: 0.5, memory: '1024Mi' }, limits: { cpu: '1000m' } },
            volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
          },
        ],
        tolerations: [{ key: 'x', operator: 'Exists' }],
        volumes: [{ name: 'tmp', emptyDir: {} }],
      },
    },
  },
});

// The answer of kube-apiserver 1.36.3 to a server-side apply of it, with normalized quantities and defaults.
const web = {
  env: [{ name: 'A', value: '1' }],
  image: 'nginx:1.25',
  imagePullPolicy: 'IfNotPresent',
  name: 'web',
  ports: [
    { containerPort: 80, protocol: 'TCP' },
    { containerPort: 53, protocol: 'UDP' },
  ],
  resources: { limits: { cpu: '1' }, requests: { cpu: '500m', memory: '1Gi' } },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  volumeMounts: [{ mountPath: '/tmp', name: 'tmp' }],
};
const podSpec = {
  containers: [web],
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  tolerations: [{ key: 'x', operator: 'Exists' }],
  volumes: [{ emptyDir: {}, name: 'tmp' }],
};
const answer: JsonObject = deepFreeze({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    creationTimestamp: '2026-11-21T20:24:14Z',
    generation: 1,
    labels: { app: 'web' },
    name: 'web',
    namespace: 'default',
    resourceVersion: '203',
    uid: 'u',
  },
  spec: {
    progressDeadlineSeconds: 600,
    replicas: 2,
    revisionHistoryLimit: 10,
    selector: { matchLabels: { app: 'web' } },
    strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' }, type: 'RollingUpdate' },
    template: { metadata: { labels: { app: 'web' } }, spec: podSpec },
  },
  status: {},
});

const { apiVersion: _version, kind: _kind, ...withoutKind } = desired;
const hashOf = (live: JsonObject): string => sentHashOf(desired, live, deploymentRules);
const changed = (patch: JsonObject): JsonObject => mergePatchByKeys(answer, patch, deploymentRules);

test('the part at the sent fields has the values of the server', () => {
  expect(sentPartOf(desired, answer, deploymentRules)).toEqual({
    metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'nginx:1.25',
              ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }],
              env: [{ name: 'A', value: '1' }],
              resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1' } },
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
            },
          ],
          tolerations: [{ key: 'x', operator: 'Exists' }],
          volumes: [{ name: 'tmp', emptyDir: {} }],
        },
      },
    },
  });
});

describe('is no drift', () => {
  test.each<[string, JsonObject]>([
    ['the same object from a list, without its kind', { apiVersion: null, kind: null }],
    ['a newer version, a status', { metadata: { resourceVersion: '9', generation: 3, managedFields: [{}] }, status: { replicas: 2 } }],
    ['a label and an annotation of another manager', { metadata: { labels: { theirs: 'x' }, annotations: { seen: 'y' } } }],
    ['a field that we do not set', { spec: { paused: true, revisionHistoryLimit: 3 } }],
    ['a container of another manager', { spec: { template: { spec: { containers: [{ name: 'sidecar', image: 'x' }] } } } }],
    [
      'a variable of another manager',
      { spec: { template: { spec: { containers: [{ name: 'web', env: [{ name: 'B', value: '2' }] }] } } } },
    ],
  ])('%s', (_name, patch) => {
    expect(changed(patch)).not.toEqual(answer);
    expect(hashOf(changed(patch))).toBe(hashOf(answer));
  });

  test('another order of keyed items', () => {
    const swapped = { ...podSpec, containers: [{ ...web, ports: web.ports.toReversed() }] };
    const spec = { ...(answer.spec as JsonObject), template: { metadata: { labels: { app: 'web' } }, spec: swapped } };
    expect(hashOf({ ...answer, spec })).toBe(hashOf(answer));
  });
});

describe('is drift', () => {
  test.each<[string, JsonObject]>([
    ['another count', { spec: { replicas: 5 } }],
    ['no count', { spec: { replicas: null } }],
    ['another image', { spec: { template: { spec: { containers: [{ name: 'web', image: 'nginx:2' }] } } } }],
    ['another quantity', { spec: { template: { spec: { containers: [{ name: 'web', resources: { limits: { cpu: '2' } } }] } } } }],
    ['our container gone', { spec: { template: { spec: { containers: null } } } }],
    ['our label gone', { metadata: { labels: { app: null } } }],
    [
      'more in a list that is one value',
      { spec: { template: { spec: { tolerations: [{ key: 'x', operator: 'Exists' }, { key: 'y' }] } } } },
    ],
    ['our ports gone', { spec: { template: { spec: { containers: [{ name: 'web', ports: null }] } } } }],
  ])('%s', (_name, patch) => {
    expect(hashOf(changed(patch))).not.toBe(hashOf(answer));
  });
});

test('sets are compared by element, and lists without rules are one value', () => {
  const rulesAt = (path: readonly string[]) => (path[0] === 'set' ? ({ listType: 'set' } as const) : undefined);
  const wanted = { set: ['a', 'b'], list: [{ x: 1 }] };
  expect(sentPartOf(wanted, { set: ['theirs', 'b', 'a'], list: [{ x: 1, y: 2 }] }, rulesAt)).toEqual({
    set: ['a', 'b'],
    list: [{ x: 1, y: 2 }],
  });
  expect(sentPartOf(wanted, { set: ['b'], list: [] }, rulesAt)).toEqual({ set: ['b'], list: [] });
});

test('a value of another type is taken as a whole', () => {
  expect(sentPartOf({ a: { b: 1 }, c: [1] }, { a: 'text', c: { d: 1 } }, () => undefined)).toEqual({ a: 'text', c: { d: 1 } });
});

test('two objects with the same values at the sent fields are equal without a hash, even if other fields differ', () => {
  const other = changed({ metadata: { labels: { theirs: 'x' }, uid: 'v' }, spec: { paused: true }, status: { replicas: 2 } });
  expect(haveEqualSentParts(withoutKind, answer, other)).toBe(true);
  expect(haveEqualSentParts(withoutKind, answer, changed({ spec: { replicas: 5 } }))).toBe(false);
  expect(haveEqualSentParts(withoutKind, answer, changed({ spec: { replicas: null } }))).toBe(false);
  expect(haveEqualSentParts(withoutKind, changed({ spec: { replicas: null } }), answer)).toBe(false);
});

describe('of any two values', () => {
  const pair = fc.tuple(jsonText, jsonText).map(([a, b]) => [{ v: parseJsonExactly(a) }, { v: parseJsonExactly(b) }] as const);

  test('the part of a value at its own fields is the value', () => {
    fc.assert(
      fc.property(pair, ([value]) => {
        expect(
          equalJson(
            sentPartOf(value, value, () => undefined),
            value,
          ),
        ).toBe(true);
      }),
    );
  });

  test('taking the part twice gives the same result, and fields that were not sent do not matter', () => {
    fc.assert(
      fc.property(pair, fc.string(), ([wanted, live], other) => {
        const once = sentPartOf(deepFreeze(wanted), deepFreeze(live), () => undefined);
        expect(
          equalJson(
            sentPartOf(wanted, once, () => undefined),
            once,
          ),
        ).toBe(true);
        const more: Json = { ...live, [`x${other}`]: 1 };
        expect(sentHashOf(wanted, more, () => undefined)).toBe(sentHashOf(wanted, live, () => undefined));
      }),
    );
  });

  test('objects that are equal without a hash have equal hashes, by any rules of lists', () => {
    const triple = fc.tuple(jsonText, jsonText, jsonText).map((texts) => texts.map((text): JsonObject => ({ v: parseJsonExactly(text) })));
    let equal = 0;
    fc.assert(
      fc.property(triple, fc.constantFrom('set', 'map', 'atomic'), ([wanted = {}, one = {}, other = {}], listType) => {
        if (!haveEqualSentParts(deepFreeze(wanted), deepFreeze(one), deepFreeze(other))) return;
        equal += 1;
        const rules = () => ({ listType, listMapKeys: ['a'] }) as const;
        expect(sentHashOf(wanted, one, rules)).toBe(sentHashOf(wanted, other, rules));
      }),
      { numRuns: 5_000 },
    );
    expect(equal).toBeGreaterThan(50);
  });
});
