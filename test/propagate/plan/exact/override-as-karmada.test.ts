import { expect, test } from 'vitest';
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
