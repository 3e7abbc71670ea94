import { expect } from 'vitest';
import { container, deploymentOf, patchingIn } from './patching.ts';
import { type DeclareCase, statusOf } from './place.ts';

const strangeUid = '11111111-2222-3333-4444-555555555555';

/** JSON patches and merge patches, and the validation of all writes. */
export function patchCases(declare: DeclareCase): void {
  declare('patches by RFC 6902, except that a replace may add', async (place) => {
    const { json } = patchingIn(place);
    const path = `${place.at('configmaps')}/one`;
    await place.create(place.at('configmaps'), { metadata: { name: 'one' }, data: { k: '1' } });
    const patched = await json(path, [
      { op: 'test', path: '/data/k', value: '1' },
      { op: 'add', path: '/data/w', value: '2' },
      { op: 'replace', path: '/data/new', value: '3' },
      { op: 'copy', from: '/data/w', path: '/data/copy' },
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'move', from: '/data/k', path: '/metadata/annotations/a.b~1c' },
    ]);
    expect(patched.json()).toMatchObject({ metadata: { annotations: { 'a.b/c': '1' } }, data: { w: '2', new: '3', copy: '2' } });
    const failing: readonly (readonly object[])[] = [
      [{ op: 'test', path: '/data/w', value: '8' }],
      [{ op: 'remove', path: '/data/nothing' }],
      [{ op: 'add', path: '/data/nothing/a', value: '1' }],
      [{ op: 'shuffle', path: '/data/w', value: '1' }],
    ];
    for (const operations of failing) {
      expect(statusOf((await json(path, operations)).json())).toEqual({ kind: 'Status', code: 422, reason: 'Invalid', causes: [] });
    }
    expect(statusOf((await json(path, { op: 'add' })).json())).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(statusOf((await json(path, '{{')).json())).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(statusOf((await json(`${place.at('configmaps')}/none`, [])).json())).toMatchObject({ code: 404 });
  });

  declare('merges by RFC 7396', async (place) => {
    const { merge } = patchingIn(place);
    const path = `${place.at('configmaps')}/one`;
    await place.create(place.at('configmaps'), { metadata: { name: 'one', labels: { a: 'b' } }, data: { k: '1' } });
    const patched = (await merge(path, { metadata: { labels: null }, data: { k: null, v: '1' } })).json();
    expect([patched.metadata.labels, patched.data]).toEqual([undefined, { v: '1' }]);
    expect(statusOf((await merge(path, [])).json())).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(statusOf((await merge(path, '{{')).json())).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(statusOf((await merge(`${place.at('configmaps')}/none`, {})).json())).toMatchObject({ code: 404 });
    expect(statusOf((await merge(path, {}, { force: 'true' })).json())).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueForbidden', field: 'force' }],
    });
  });

  declare('changes neither the kind nor the name of an object', async (place) => {
    const { merge } = patchingIn(place);
    const path = `${place.at('configmaps')}/one`;
    const made = await place.create(place.at('configmaps'), { metadata: { name: 'one' }, data: { k: '1' } });
    const refused = async (patch: object) => statusOf((await merge(path, patch)).json());
    expect(await refused({ metadata: { name: 'two' } })).toMatchObject({ code: 400 });
    expect(await refused({ metadata: { namespace: 'two' } })).toMatchObject({ code: 400 });
    expect(await refused({ metadata: { uid: strangeUid } })).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(await refused({ metadata: { resourceVersion: '1' } })).toEqual({ kind: 'Status', code: 409, reason: 'Conflict', causes: [] });
    expect(await refused({ kind: 'Secret' })).toMatchObject({ code: 422 });
    expect(await refused({ data: { k: 1 } })).toMatchObject({ code: 422, causes: [{ field: 'patch' }] });
    const kept = (await merge(path, { metadata: { creationTimestamp: '2020-01-01T00:00:00Z', resourceVersion: '' } })).json();
    expect(kept.metadata.creationTimestamp).toBe(made.metadata.creationTimestamp);
  });

  declare(
    'handles undeclared fields by fieldValidation: drops them with a warning, refuses them, or drops them silently',
    async (place) => {
      const { merge, json } = patchingIn(place);
      const all = place.at('deployments', 'apps/v1');
      const odd = deploymentOf({
        zzz: 1,
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container({ foo: 1 })] } },
      });
      const warning = '299 - "unknown field \\"spec.template.spec.containers[0].foo\\"", 299 - "unknown field \\"spec.zzz\\""';
      const strict = (await place.client.send('POST', `${all}?fieldValidation=Strict`, { body: odd })).json();
      expect(statusOf(strict)).toEqual({ kind: 'Status', code: 400, reason: 'BadRequest', causes: [] });
      expect(strict.message).toContain(
        'strict decoding error: unknown field "spec.template.spec.containers[0].foo", unknown field "spec.zzz"',
      );
      const warned = await place.client.send('POST', all, { body: odd });
      expect([warned.status, warned.headers.warning]).toEqual([201, warning]);
      expect(warned.text).not.toMatch(/zzz|foo/);
      const path = `${all}/web`;
      const replaced = await place.client.send('PUT', path, { body: odd });
      expect([replaced.status, replaced.headers.warning]).toEqual([200, warning]);
      const patched = await merge(path, { spec: { zzz: 1 } });
      expect([patched.status, patched.headers.warning]).toEqual([200, '299 - "unknown field \\"spec.zzz\\""']);
      const ignored = await merge(path, { spec: { zzz: 1 } }, { fieldValidation: 'Ignore' });
      expect([ignored.status, ignored.headers.warning]).toEqual([200, undefined]);
      for (const refused of [
        await merge(path, { spec: { zzz: 1 } }, { fieldValidation: 'Strict' }),
        await json(path, [{ op: 'add', path: '/spec/zzz', value: 1 }], { fieldValidation: 'Strict' }),
        await merge(path, { spec: { replicas: 'x' } }),
      ]) {
        expect(statusOf(refused.json())).toMatchObject({ code: 422, causes: [{ reason: 'FieldValueInvalid', field: 'patch' }] });
      }
      const mistyped = await place.client.send('POST', all, { body: deploymentOf({ replicas: 'x' }, { name: 'other' }) });
      expect(statusOf(mistyped.json())).toMatchObject({ code: 400, reason: 'BadRequest' });
    },
  );

  declare('refuses unknown options', async (place) => {
    const refused = async (query: string) =>
      statusOf((await place.client.send('POST', `${place.at('configmaps')}?${query}`, { body: { metadata: { name: 'one' } } })).json());
    expect(await refused('dryRun=Some')).toMatchObject({ code: 422, causes: [{ field: 'dryRun' }] });
    expect(await refused('fieldValidation=Some')).toMatchObject({ code: 422, causes: [{ field: 'fieldValidation' }] });
    const made = await place.client.send('POST', `${place.at('configmaps')}?dryRun=All`, { body: { metadata: { name: 'one' } } });
    expect([made.status, made.json().metadata.resourceVersion]).toEqual([201, undefined]);
    expect((await place.client.get(`${place.at('configmaps')}/one`)).status).toBe(404);
  });

  declare('refuses changes of immutable fields: 422 with the field', async (place) => {
    const { apply } = patchingIn(place);
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const moved = { selector: { matchLabels: { app: 'other' } }, template: { ...template, metadata: { labels: { app: 'other' } } } };
    const selector = { matchLabels: { app: 'web' } };
    const jobTemplate = (image: string) => ({ spec: { restartPolicy: 'Never', containers: [{ name: 'web', image }] } });
    const cases: readonly (readonly [string, string, object, object, string])[] = [
      ['deployments', 'Deployment', { spec: { selector, template } }, { spec: moved }, 'spec.selector'],
      ['daemonsets', 'DaemonSet', { spec: { selector, template } }, { spec: moved }, 'spec.selector'],
      [
        'statefulsets',
        'StatefulSet',
        { spec: { serviceName: 'a', selector, template } },
        { spec: { serviceName: 'b', selector, template } },
        'spec',
      ],
      ['jobs', 'Job', { spec: { template: jobTemplate('a') } }, { spec: { template: jobTemplate('b') } }, 'spec.template'],
      [
        'jobs',
        'Job',
        { spec: { completions: 2, template: jobTemplate('a') } },
        { spec: { completions: 3, template: jobTemplate('a') } },
        'spec.completions',
      ],
      ['configmaps', 'ConfigMap', { immutable: true, data: { k: '1' } }, { immutable: true, data: { k: '2' } }, 'data'],
      ['secrets', 'Secret', { type: 'Opaque' }, { type: 'example.com/other' }, 'type'],
      [
        'pods',
        'Pod',
        { spec: { containers: [{ name: 'a', image: 'a' }] } },
        { spec: { containers: [{ name: 'a', image: 'a', command: ['x'] }] } },
        'spec',
      ],
      [
        'rolebindings',
        'RoleBinding',
        { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' } },
        { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'b' } },
        'roleRef',
      ],
    ];
    for (const [index, [resource, kind, before, after, field]] of cases.entries()) {
      const groupVersion = groupVersions[kind] ?? 'v1';
      const object = { apiVersion: groupVersion, kind, metadata: { name: `o${index}` } };
      const path = `${place.at(resource, groupVersion)}/o${index}`;
      const made = await apply(path, { ...object, ...before });
      expect(made.status, `${kind}: ${made.text}`).toBe(201);
      for (const options of [{}, { dryRun: 'All' }]) {
        const refused = (await apply(path, { ...object, ...after }, options)).json();
        expect(statusOf(refused), `${kind} ${field}`).toMatchObject({ code: 422, reason: 'Invalid', causes: [{ field }] });
      }
    }
  });

  declare('refuses workloads without their required fields', async (place) => {
    const { apply } = patchingIn(place);
    const path = `${place.at('deployments', 'apps/v1')}/web`;
    const refused = async (spec: object) =>
      statusOf((await apply(path, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec })).json());
    expect(await refused({})).toMatchObject({
      code: 422,
      causes: [
        { reason: 'FieldValueRequired', field: 'spec.selector' },
        { reason: 'FieldValueInvalid', field: 'spec.template.metadata.labels' },
        { reason: 'FieldValueRequired', field: 'spec.template.spec.containers' },
      ],
    });
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web' }] } };
    expect(await refused({ selector: { matchLabels: { app: 'web' } }, template })).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueRequired', field: 'spec.template.spec.containers[0].image' }],
    });
    expect(
      await refused({ selector: { matchLabels: { app: 'other' } }, template: { ...template, spec: { containers: [container()] } } }),
    ).toMatchObject({ code: 422, causes: [{ field: 'spec.template.metadata.labels' }] });
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: { template: { spec: { containers: [container()] } } },
    };
    expect(statusOf((await apply(`${place.at('jobs', 'batch/v1')}/j`, job)).json())).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueRequired', field: 'spec.template.spec.restartPolicy' }],
    });
  });

  declare('stores stringData of a Secret as data', async (place) => {
    const { apply } = patchingIn(place);
    const made = await apply(`${place.at('secrets')}/s`, {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
      ...{ data: { a: 'Yg==' }, stringData: { c: 'd' } },
    });
    expect(made.json()).toMatchObject({ data: { a: 'Yg==', c: 'ZA==' } });
    expect(made.text).not.toContain('"stringData":');
  });

  declare('impersonates the user of a header, with the rights of that user', async (place) => {
    const alice = { 'impersonate-user': 'alice', 'impersonate-group': 'devs', 'impersonate-uid': '77' };
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const who = await place.client.send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: review, headers: alice });
    expect(who.json().status).toEqual({ userInfo: { username: 'alice', uid: '77', groups: ['devs', 'system:authenticated'] } });
    const nameless = await place.client.get(place.at('configmaps'), { 'impersonate-group': 'devs' });
    expect(statusOf(nameless.json())).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  declare('refuses invalid delete options, and by default keeps the Pods of a Job', async (place) => {
    const path = `${place.at('configmaps')}/one`;
    await place.create(place.at('configmaps'), { metadata: { name: 'one' } });
    const odd = (await place.client.send('DELETE', path, { body: { propagationPolicy: 'Sometimes' } })).json();
    expect(statusOf(odd)).toMatchObject({ code: 422, causes: [{ reason: 'FieldValueNotSupported', field: 'propagationPolicy' }] });
    expect((await place.client.send('DELETE', `${path}?dryRun=All`)).status).toBe(200);
    const other = (await place.client.send('DELETE', path, { body: { preconditions: { uid: strangeUid } } })).json();
    expect([other.reason, other.details]).toEqual(['Conflict', { name: 'one', kind: 'ConfigMap' }]);
    expect((await place.client.get(path)).status).toBe(200);
    const jobs = place.at('jobs', 'batch/v1');
    const template = { spec: { restartPolicy: 'Never', containers: [container()] } };
    await place.create(jobs, { metadata: { name: 'j' }, spec: { template } });
    const warned = await place.client.send('DELETE', `${jobs}/j`);
    expect(warned.headers.warning).toContain('child pods are preserved by default');
  });
}

const groupVersions: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  DaemonSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  Job: 'batch/v1',
  RoleBinding: 'rbac.authorization.k8s.io/v1',
};
