import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import { containersIn } from '../../../../src/manifests/pod-specs.ts';
import { configMap, deployment, digest, imagesOf } from '../overrides/overriding.ts';
import { clusterIn, codesOf, planOf } from '../snapshots.ts';

const karmada = { system: 'Karmada' };

/** Returns the object in a plan for one cluster, with the rules of Karmada or of Muster. */
function rendered(object: Manifest, override: JsonObject, exact?: JsonObject): Manifest {
  const plan = planOf({
    template: [object],
    spec: { overrides: [override], ...(exact === undefined ? {} : { exact }) },
    clusters: { north: {} },
  });
  expect(plan.ok).toBe(true);
  const [found] = clusterIn(plan, 'north').objects;
  if (found === undefined) throw new Error('expected an object');
  return found.desired;
}

test('changes images of main containers only, and only of the kinds that Karmada knows', () => {
  const override = { image: [{ component: 'registry', operator: 'Replace', value: 'r.example' }] };
  const [init, web, side] = imagesOf(deployment);
  expect(imagesOf(rendered(deployment, override))).toEqual([
    'r.example/library/busybox:1.36',
    'r.example/library/nginx:1.25',
    `r.example/acme/side@${digest}`,
  ]);
  expect(imagesOf(rendered(deployment, override, karmada))).toEqual([
    init,
    'r.example/library/nginx:1.25',
    `r.example/acme/side@${digest}`,
  ]);

  const replicationController: Manifest = { ...deployment, apiVersion: 'v1', kind: 'ReplicationController' };
  expect(imagesOf(rendered(replicationController, override, karmada))).toEqual([init, web, side]);
  expect(imagesOf(rendered(replicationController, override))).not.toContain(web);
});

test('drops the digest of an image that has a tag too', () => {
  const pinned: Manifest = {
    ...deployment,
    spec: { template: { spec: { containers: [{ name: 'web', image: `nginx:1.25@${digest}` }] } } },
  };
  const override = { image: [{ component: 'registry', operator: 'Replace', value: 'r.example', scope: 'Main' }] };
  const imageOf = (object: Manifest) => containersIn(object, 'Main')[0]?.container;
  expect(imageOf(rendered(pinned, override))).toMatchObject({ image: `r.example/nginx:1.25@${digest}` });
  expect(imageOf(rendered(pinned, override, karmada))).toMatchObject({ image: 'r.example/nginx:1.25' });
});

test('ignores Replace for commands and arguments', () => {
  const override = {
    command: [{ container: 'web', operator: 'Replace', values: ['sh'] }],
    args: [
      { container: 'web', operator: 'Remove', values: ['-g'] },
      { container: 'init', operator: 'Add', values: ['x'] },
    ],
  };
  const firstOf = (object: Manifest, scope: 'Main' | 'Init') => containersIn(object, scope)[0]?.container;
  expect(firstOf(rendered(deployment, override), 'Main')).toMatchObject({ command: ['sh'], args: ['daemon off;'] });
  const exact = rendered(deployment, override, karmada);
  expect(firstOf(exact, 'Main')).toMatchObject({ command: ['nginx'], args: ['daemon off;'] });
  expect(firstOf(exact, 'Init')).not.toHaveProperty('args');
  const withoutList = { command: [{ container: 'side', operator: 'Replace', values: ['sh'] }] };
  expect(containersIn(rendered(deployment, withoutList, karmada), 'Main')[1]?.container).toMatchObject({ command: [] });
});

test('empties a field that has no patch, and fails if there is no text', () => {
  const emptied = { fields: [{ path: '/data/plain', format: 'json', patch: [] }] };
  expect(rendered(configMap, emptied, karmada).data).toMatchObject({ plain: '', n: 'y: "yes"\n' });
  const failing = (exact?: JsonObject, path = '/data/plain') =>
    codesOf(
      planOf({
        template: [configMap],
        spec: { overrides: [{ fields: [{ path, format: 'json', patch: [] }] }], ...(exact === undefined ? {} : { exact }) },
        clusters: { north: {} },
      }),
    );
  // Without `exact`, the text must be JSON.
  expect(failing()).toEqual(['ERROR OVERRIDE_FAILED']);
  expect(failing(karmada, '/data/none')).toEqual(['ERROR OVERRIDE_FAILED']);
});

test('patches a field as Muster does', () => {
  const override = { fields: [{ path: '/data/app.json', format: 'json', patch: [{ op: 'replace', path: '/z', value: 2 }] }] };
  expect(rendered(configMap, override, karmada)).toEqual(rendered(configMap, override));
});

describe('images', () => {
  const imageIn = (object: Manifest) => containersIn(object, 'Main')[0]?.container;
  const withImage = (container: JsonObject): Manifest => ({
    ...deployment,
    spec: { template: { spec: { containers: [{ name: 'web', ...container }] } } },
  });

  // Results of Karmada f8fdd02, pkg/util/overridemanager.
  test.each([
    [`x:1@${digest}`, { component: 'repository', operator: 'Remove' }, ':1'],
    [`r.example/x:1@${digest}`, { component: 'repository', operator: 'Remove' }, 'r.example/:1'],
    [`x:1@${digest}`, { component: 'registry', operator: 'Add', value: ':5000' }, ':5000/x:1'],
    [`x:1@${digest}`, { component: 'tag', operator: 'Remove' }, 'x'],
    [`x:1@${digest}`, { component: 'tag', operator: 'Add', value: '-slim' }, 'x:1-slim'],
    [`x:1@${digest}`, { component: 'tag', operator: 'Add', value: '!' }, 'x:1'],
    [`x@${digest}`, { component: 'registry', operator: 'Add', value: ':5000' }, `:5000/x@${digest}`],
  ])('%s with %j becomes %s', (image, item, expected) => {
    expect(imageIn(rendered(withImage({ image }), { image: [item] }, karmada))).toMatchObject({ image: expected });
  });

  test.each<[string, JsonObject]>([
    ['no image', {}],
    ['an empty image', { image: '' }],
  ])('fails for a container with %s', (_, container) => {
    const spec = { overrides: [{ image: [{ component: 'registry', operator: 'Replace', value: 'r' }] }], exact: karmada };
    const plan = planOf({ template: [withImage(container)], spec, clusters: { north: {} } });
    expect(codesOf(plan)).toEqual(['ERROR OVERRIDE_FAILED']);
  });
});

describe('patches with the leniency of json-patch 5', () => {
  const object: Manifest = { ...configMap, data: { a: 1, l: [1, 2, 3] } };
  const patched = (patch: JsonObject, isExact = true) =>
    planOf({
      template: [object],
      spec: { overrides: [{ jsonPatch: [patch] }], ...(isExact ? { exact: karmada } : {}) },
      clusters: { north: {} },
    });
  const dataIn = (plan: ReturnType<typeof patched>) =>
    JSON.parse(JSON.stringify(clusterIn(plan, 'north').objects[0]?.desired.data ?? null));

  // Results of evanphx/json-patch v5.9.11.
  test.each<[JsonObject, JsonObject]>([
    [
      { op: 'replace', path: '/data/l/-1', value: 9 },
      { a: 1, l: [1, 2, 9] },
    ],
    [
      { op: 'remove', path: '/data/l/-3' },
      { a: 1, l: [2, 3] },
    ],
    [
      { op: 'add', path: '/data/l/-1', value: 9 },
      { a: 1, l: [1, 2, 3, 9] },
    ],
    [
      { op: 'add', path: '/data/l/-4', value: 9 },
      { a: 1, l: [9, 1, 2, 3] },
    ],
    [
      { op: 'add', path: '/data/l/-0', value: 9 },
      { a: 1, l: [9, 1, 2, 3] },
    ],
    [
      { op: 'add', path: '/data/l/+1', value: 9 },
      { a: 1, l: [1, 9, 2, 3] },
    ],
    [
      { op: 'replace', path: '/data/l/01', value: 9 },
      { a: 1, l: [1, 9, 3] },
    ],
    [
      { op: 'replace', path: '/data/', value: 9 },
      { a: 1, l: [1, 2, 3], '': 9 },
    ],
  ])('%j', (patch, expected) => {
    expect(dataIn(patched(patch))).toEqual(expected);
    expect(codesOf(patched(patch, false))).toEqual(['ERROR OVERRIDE_FAILED']);
  });

  test('adds null without a value, as Karmada sends null then', () => {
    expect(dataIn(patched({ op: 'replace', path: '/data/a' }))).toEqual({ a: null, l: [1, 2, 3] });
  });

  test.each([
    { op: 'remove', path: '/data/l/-4' },
    { op: 'add', path: '/data/l/-5', value: 9 },
    { op: 'replace', path: '/data/l/-', value: 9 },
    { op: 'replace', path: '/data/l/3', value: 9 },
    { op: 'add', path: '/data/l/ 1', value: 9 },
    { op: 'add', path: '/data/l/99999999999999999999', value: 9 },
    { op: 'replace', path: '/data/b', value: 9 },
    { op: 'remove', path: '/data/' },
  ])('refuses %j', (patch) => {
    expect(codesOf(patched(patch))).toEqual(['ERROR OVERRIDE_FAILED']);
  });

  test('applies to the document in a field too', () => {
    const list: Manifest = { ...configMap, data: { list: '[1,2]' } };
    const override = { fields: [{ path: '/data/list', format: 'json', patch: [{ op: 'remove', path: '/-1' }] }] };
    expect(rendered(list, override, karmada).data).toEqual({ list: '[1]' });
  });
});
