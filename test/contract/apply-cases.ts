import { expect } from 'vitest';
import { conflictsIn, container, deploymentOf, ownersIn, patchingIn } from './patching.ts';
import { type DeclareCase, statusOf } from './place.ts';

const strangeUid = '11111111-2222-3333-4444-555555555555';
const modified = { kind: 'Status', code: 409, reason: 'Conflict', causes: [] };

/** Server-side apply: creation, preconditions, refusals. */
export function applyCases(declare: DeclareCase): void {
  declare('with resourceVersion 1, an apply creates an absent object, owned by Apply, and never changes an existing one', async (place) => {
    const { applyData } = patchingIn(place);
    const guard = { resourceVersion: '1', labels: { x: 'y' } };
    const made = await applyData('one', { k: '1' }, { metadata: guard });
    expect(made.status).toBe(201);
    expect(made.json()).toMatchObject({ kind: 'ConfigMap', metadata: { labels: { x: 'y' } }, data: { k: '1' } });
    expect(ownersIn(made.json())).toEqual({ 'muster Apply': { 'f:data': { 'f:k': {} }, 'f:metadata': { 'f:labels': { 'f:x': {} } } } });
    for (const options of [{}, { force: 'true' }, { dryRun: 'All' }, { force: 'true', dryRun: 'All' }]) {
      const again = await applyData('one', { k: '1' }, { metadata: guard, options });
      expect(statusOf(again.json())).toEqual(modified);
      expect(again.json().details).toEqual({ name: 'one', kind: 'configmaps' });
    }
    expect(
      statusOf((await applyData('one', { k: '2' }, { metadata: guard, options: { fieldManager: 'other', force: 'true' } })).json()),
    ).toEqual(modified);
  });

  declare('reports a conflict of fields before a conflict of versions', async (place) => {
    const { applyData } = patchingIn(place);
    await applyData('one', { k: '1' });
    const other = { fieldManager: 'other' };
    const both = await applyData('one', { k: '2' }, { metadata: { resourceVersion: '1' }, options: other });
    expect(conflictsIn(both.json())).toEqual(['conflict with "muster": .data.k']);
    const same = await applyData('one', { k: '1' }, { metadata: { resourceVersion: '1' }, options: other });
    expect(statusOf(same.json())).toEqual(modified);
    const uid = await applyData('one', { k: '2' }, { metadata: { uid: strangeUid }, options: other });
    expect(conflictsIn(uid.json())).toHaveLength(1);
  });

  declare('with version 0 or no version, nothing is guarded; with any other version an absent object is created', async (place) => {
    const { applyData } = patchingIn(place);
    await applyData('one', { k: '1' });
    for (const resourceVersion of ['0', '']) {
      const answer = await applyData('one', { k: `after ${resourceVersion}` }, { metadata: { resourceVersion } });
      expect([answer.status, answer.json().data]).toEqual([200, { k: `after ${resourceVersion}` }]);
      expect((await applyData(`made-${resourceVersion || 'plain'}`, {}, { metadata: { resourceVersion } })).status).toBe(201);
    }
    expect((await applyData('two', {}, { metadata: { resourceVersion: '12' } })).status).toBe(201);
    expect(statusOf((await applyData('two', {}, { metadata: { resourceVersion: 'abc' } })).json())).toMatchObject({ code: 500 });
  });

  declare('with a uid, an apply answers 422 for an object with another uid, and 409 for an absent object', async (place) => {
    const { applyData } = patchingIn(place);
    const made = (await applyData('one', { k: '1' })).json();
    const other = (await applyData('one', { k: '2' }, { metadata: { uid: strangeUid } })).json();
    const cause = { reason: 'FieldValueInvalid', field: 'metadata.uid' };
    expect(statusOf(other)).toEqual({ kind: 'Status', code: 422, reason: 'Invalid', causes: [cause, cause] });
    const none = (await applyData('none', {}, { metadata: { uid: strangeUid } })).json();
    expect(statusOf(none)).toEqual(modified);
    expect(none.message).toContain('uid mismatch');
    expect((await place.client.get(`${place.at('configmaps')}/none`)).status).toBe(404);
    const { uid, resourceVersion } = made.metadata;
    const own = await applyData('one', { k: '2' }, { metadata: { uid, resourceVersion } });
    expect(own.json()).toMatchObject({ metadata: { uid }, data: { k: '2' } });
    const stale = await applyData('one', { k: '3' }, { metadata: { uid, resourceVersion } });
    expect(statusOf(stale.json())).toEqual(modified);
  });

  declare('an apply that changes no field keeps the version and the times', async (place) => {
    const { applyData } = patchingIn(place);
    const made = (await applyData('one', { k: '1' })).json();
    expect((await applyData('one', { k: '1' })).json()).toEqual(made);
    expect((await applyData('one', { k: '1' }, { options: { force: 'true' } })).json()).toEqual(made);
  });

  declare('refuses an undeclared field, a wrong type and a repeated key: 500 without a reason', async (place) => {
    const { apply } = patchingIn(place);
    const path = `${place.at('deployments', 'apps/v1')}/web`;
    const refused = async (applied: object) => (await apply(path, applied)).json();
    const cases: readonly (readonly [object, string])[] = [
      [deploymentOf({ zzz: 1 }), '.spec.zzz: field not declared in schema'],
      [deploymentOf({ replicas: 'two' }), '.spec.replicas: expected numeric'],
      [deploymentOf({ paused: 'no' }), '.spec.paused: expected boolean'],
      [deploymentOf({ selector: 'x' }), '.spec.selector: expected map'],
      [deploymentOf({}, { labels: { a: 1 } }), '.metadata.labels.a: expected string'],
      [deploymentOf({ template: { spec: { containers: {} } } }), '.spec.template.spec.containers: expected list'],
      [deploymentOf({ template: { spec: { containers: [{ name: 'a' }, { name: 'a' }] } } }), 'duplicate entries for key [name="a"]'],
      [
        deploymentOf({ template: { spec: { containers: [container({ foo: 1 })] } } }),
        '.spec.template.spec.containers[name="web"].foo: field not declared in schema',
      ],
    ];
    for (const [applied, fault] of cases) {
      const status = await refused(applied);
      expect(statusOf(status), fault).toEqual({ kind: 'Status', code: 500, reason: undefined, causes: [] });
      expect(status.message).toMatch(/^failed to create typed patch object \(\/web; apps\/v1, Kind=Deployment\): /);
      expect(status.message).toContain(fault);
    }
    expect((await place.client.get(path)).status).toBe(404);
  });

  declare('refuses an invalid quantity and invalid base64: 500 without a reason, and 400 for a POST', async (place) => {
    const { apply } = patchingIn(place);
    const tooMuch = deploymentOf({ template: { spec: { containers: [container({ resources: { limits: { cpu: '1xyz' } } })] } } });
    const secretOf = (data: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' }, data: { a: data } });
    const binary = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, binaryData: { a: 'Y-Q=' } };
    const cases: readonly (readonly [string, object, RegExp])[] = [
      [place.at('deployments', 'apps/v1'), tooMuch, /apps\/v1, Kind=Deployment: quantities must match the regular expression/],
      [place.at('secrets'), secretOf('not base64!'), /illegal base64 data at input byte 3$/],
      [place.at('secrets'), secretOf('YQ'), /illegal base64 data at input byte 0$/],
      [place.at('configmaps'), binary, /illegal base64 data at input byte 1$/],
    ];
    for (const [path, object, words] of cases) {
      const refused = (await apply(`${path}/${path.includes('deployments') ? 'web' : 'one'}`, object)).json();
      expect(statusOf(refused)).toEqual({ kind: 'Status', code: 500, reason: undefined, causes: [] });
      expect(refused.message).toMatch(/^failed to convert new object \(\/(?:one|web); [^)]*\) to proper version: unable to convert /);
      expect(refused.message).toMatch(words);
      const made = (await place.client.send('POST', path, { body: object })).json();
      expect(statusOf(made)).toMatchObject({ code: 400, reason: 'BadRequest' });
      expect(made.message).toMatch(/cannot be handled as a \w+: (?:illegal|quantities)/);
    }
    for (const data of ['YQ==', 'YR==', 'YQ==\n', '', 'YWI=']) {
      const taken = await apply(`${place.at('secrets')}/one`, secretOf(data), { force: 'true' });
      expect([data, taken.status < 300]).toEqual([data, true]);
    }
  });

  declare('refuses a body that is not the object of the path', async (place) => {
    const { apply } = patchingIn(place);
    const path = `${place.at('configmaps')}/one`;
    const refused = async (applied: object | string, options = {}) => statusOf((await apply(path, applied, options)).json());
    const body = (more: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, ...more });
    const bad = { code: 400, reason: 'BadRequest' };
    expect(await refused(body({ kind: 'Secret' }))).toMatchObject(bad);
    expect(await refused(body({ apiVersion: 'v2' }))).toMatchObject(bad);
    expect(await refused({ metadata: { name: 'one' } })).toMatchObject(bad);
    expect(await refused(body({ metadata: { name: 'two' } }))).toMatchObject(bad);
    expect(await refused(body({ metadata: { name: 'one', namespace: 'elsewhere' } }))).toMatchObject(bad);
    expect(await refused(body({ metadata: { name: 'one', managedFields: [] } }))).toMatchObject(bad);
    expect(await refused('{a: [')).toMatchObject(bad);
    expect(await refused('[]')).toMatchObject(bad);
    expect(await refused('')).toMatchObject(bad);
    expect(await refused(body({}), { fieldManager: '' })).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueRequired', field: 'fieldManager' }],
    });
    expect(await refused(body({}), { dryRun: 'Some' })).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueNotSupported', field: 'dryRun' }],
    });
    expect(await refused(body({}), { fieldValidation: 'Some' })).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueNotSupported', field: 'fieldValidation' }],
    });
    const nameless = { apiVersion: 'v1', kind: 'ConfigMap' };
    expect(await refused(nameless)).toMatchObject(bad);
    expect((await apply(path, body({}))).status).toBe(201);
    expect((await apply(path, nameless)).status).toBe(200);
  });

  declare('reads YAML 1.1: boolean keys and octal numbers', async (place) => {
    const { apply } = patchingIn(place);
    const yaml = (name: string, data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  ${data}\n`;
    const made = await apply(`${place.at('configmaps')}/one`, yaml('one', 'y: "2"'));
    expect(made.json().data).toEqual({ true: '2' });
    const octal = (await apply(`${place.at('configmaps')}/two`, yaml('two', 'mode: 0644'))).json();
    expect(octal.message).toContain('.data.mode: expected string');
    expect(octal.message).toContain('420');
  });

  declare('answers 404 of kind namespaces in an absent namespace, also for a dry run', async (place) => {
    const { apply } = patchingIn(place);
    const path = '/api/v1/namespaces/nowhere/configmaps/one';
    for (const options of [{}, { dryRun: 'All' }]) {
      const refused = (await apply(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } }, options)).json();
      expect(statusOf(refused)).toEqual({ kind: 'Status', code: 404, reason: 'NotFound', causes: [] });
      expect(refused.details).toEqual({ name: 'nowhere', kind: 'namespaces' });
    }
    const typed = await apply(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, zzz: 1 });
    expect(typed.status).toBe(500);
  });

  declare('creates nothing in a namespace that is being deleted, and still changes existing objects', async (place) => {
    const { applyData } = patchingIn(place);
    const finalizers = ['example.com/hold'];
    await applyData('held', {}, { metadata: { finalizers } });
    await place.client.send('DELETE', `/api/v1/namespaces/${place.namespace}`);
    const late = (await applyData('late', {})).json();
    expect(statusOf(late)).toMatchObject({ code: 403, reason: 'Forbidden', causes: [{ reason: 'NamespaceTerminating' }] });
    const changed = await applyData('held', { k: '1' }, { metadata: { finalizers } });
    expect(changed.json().data).toEqual({ k: '1' });
    const freed = await applyData('held', { k: '1' });
    expect(freed.status).toBe(200);
  });

  declare('a dry run answers like a real apply and writes nothing', async (place) => {
    const { applyData } = patchingIn(place);
    const dry = { options: { dryRun: 'All' } };
    const would = await applyData('one', { k: '1' }, dry);
    expect([would.status, would.json().metadata.resourceVersion]).toEqual([201, undefined]);
    expect(would.json().metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect((await place.client.get(`${place.at('configmaps')}/one`)).status).toBe(404);
    const made = (await applyData('one', { k: '1' })).json();
    const changed = await applyData('one', { k: '2' }, dry);
    expect(changed.json()).toMatchObject({ metadata: { resourceVersion: made.metadata.resourceVersion }, data: { k: '2' } });
    expect((await place.read(`${place.at('configmaps')}/one`)).data).toEqual({ k: '1' });
  });

  declare('increases the generation with each change of the spec', async (place) => {
    const { apply } = patchingIn(place);
    const path = `${place.at('deployments', 'apps/v1')}/web`;
    expect((await apply(path, deploymentOf())).json().metadata.generation).toBe(1);
    expect((await apply(path, deploymentOf({}, { labels: { a: 'b' } }))).json().metadata.generation).toBe(1);
    expect((await apply(path, deploymentOf({ replicas: 3 }), { dryRun: 'All' })).json().metadata.generation).toBe(2);
    expect((await apply(path, deploymentOf({ replicas: 3 }))).json().metadata.generation).toBe(2);
  });

  declare('removes an object that is being deleted when its last finalizer is no longer applied', async (place) => {
    const { applyData } = patchingIn(place);
    const path = `${place.at('configmaps')}/held`;
    await applyData('held', { k: '1' }, { metadata: { finalizers: ['example.com/hold'] } });
    await place.client.send('DELETE', path);
    const forbidden = { reason: 'FieldValueForbidden', field: 'metadata.finalizers' };
    const more = await applyData(
      'held',
      { k: '1' },
      { metadata: { finalizers: ['example.com/more'] }, options: { fieldManager: 'other' } },
    );
    expect(statusOf(more.json())).toMatchObject({ code: 422, causes: [forbidden, forbidden] });
    expect((await applyData('held', { k: '1' })).status).toBe(200);
    expect((await place.client.get(path)).status).toBe(404);
  });

  declare('stores revisions, leases and admission policies that a controller applies', async (place) => {
    const { apply } = patchingIn(place);
    const revision = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: 'r' },
      revision: 1,
      data: { spec: { a: [1] } },
    };
    const made = await apply(`${place.at('controllerrevisions', 'apps/v1')}/r`, revision);
    expect(made.json()).toMatchObject({ revision: 1, data: { spec: { a: [1] } } });
    const changed = await apply(`${place.at('controllerrevisions', 'apps/v1')}/r`, { ...revision, data: { spec: { a: [2] } } });
    expect(statusOf(changed.json())).toMatchObject({ code: 422, causes: [{ field: 'data' }] });
    const spec = { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' };
    const path = `${place.at('leases', 'coordination.k8s.io/v1')}/l`;
    const lease = await place.create(place.at('leases', 'coordination.k8s.io/v1'), { metadata: { name: 'l' }, spec });
    const taken = await place.replace(path, { ...lease, spec: { ...spec, holderIdentity: 'two' } });
    expect([taken.spec?.holderIdentity, taken.metadata.generation]).toEqual(['two', undefined]);
    expect(statusOf((await place.client.send('PUT', path, { body: lease })).json())).toMatchObject({ code: 409, causes: [] });
    const name = `policy-${place.namespace}`;
    const resourceRules = [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'] }];
    const policy = await apply(`/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${name}`, {
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name } },
      spec: { matchConstraints: { resourceRules }, validations: [{ expression: 'true' }] },
    });
    expect([policy.status, policy.json().metadata.generation]).toEqual([201, 1]);
  });
}
