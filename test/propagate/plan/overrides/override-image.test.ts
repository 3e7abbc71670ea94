import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { valueAt } from '../../../../src/core/json-at.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import type { Override } from '../../../../src/propagate/model/spec.ts';
import { configMap, deployment, digest, imagesOf, notesOf, objectOf, overridden } from './overriding.ts';

describe('image', () => {
  const busybox = 'docker.io/library/busybox:1.36';
  const nginx = 'docker.io/library/nginx:1.25';
  const side = `quay.io/acme/side@${digest}`;

  test.each<[string, Override['image'][number], readonly string[]]>([
    [
      'replaces registries, init containers too',
      { component: 'registry', operator: 'Replace', value: 'r:5000', scope: 'All' },
      ['r:5000/library/busybox:1.36', 'r:5000/library/nginx:1.25', `r:5000/acme/side@${digest}`],
    ],
    [
      'adds to a registry',
      { component: 'registry', operator: 'Add', value: '.cn', scope: 'Main' },
      [busybox, 'docker.io.cn/library/nginx:1.25', `quay.io.cn/acme/side@${digest}`],
    ],
    ['removes a registry', { component: 'registry', operator: 'Remove', scope: 'Init' }, ['library/busybox:1.36', nginx, side]],
    [
      'replaces repositories',
      { component: 'repository', operator: 'Replace', value: 'a/b', scope: 'Main', containers: ['web'] },
      [busybox, 'docker.io/a/b:1.25', side],
    ],
    [
      'adds to a tag',
      { component: 'tag', operator: 'Add', value: '-alpine', scope: 'Main', containers: ['web'] },
      [busybox, 'docker.io/library/nginx:1.25-alpine', side],
    ],
    [
      'sets a tag in place of a digest',
      { component: 'tag', operator: 'Replace', value: '2', scope: 'Main', containers: ['side'] },
      [busybox, nginx, 'quay.io/acme/side:2'],
    ],
    [
      'sets a digest in place of a tag',
      { component: 'tag', operator: 'Replace', value: digest, scope: 'Init' },
      [`docker.io/library/busybox@${digest}`, nginx, side],
    ],
    [
      'removes tag and digest',
      { component: 'tag', operator: 'Remove', scope: 'All' },
      ['docker.io/library/busybox', 'docker.io/library/nginx', 'quay.io/acme/side'],
    ],
    [
      'sets a digest beside a tag',
      { component: 'digest', operator: 'Replace', value: digest, scope: 'Init' },
      [`docker.io/library/busybox:1.36@${digest}`, nginx, side],
    ],
    ['removes a digest', { component: 'digest', operator: 'Remove', scope: 'All' }, [busybox, nginx, 'quay.io/acme/side']],
    [
      'changes the one at a path',
      { component: 'tag', operator: 'Replace', value: '9', scope: 'All', path: '/spec/template/spec/containers/0/image' },
      [busybox, 'docker.io/library/nginx:9', side],
    ],
  ])('%s', (_name, item, expected) => {
    expect(imagesOf(objectOf(overridden(deployment, { image: [item] })))).toEqual(expected);
  });

  test('a value that is neither tag nor digest gives a warning and changes nothing', () => {
    const outcome = overridden(deployment, {
      image: [{ component: 'tag', operator: 'Add', value: '-alpine', scope: 'Main', containers: ['side'] }],
    });
    expect(objectOf(outcome)).toEqual(deployment);
    expect(notesOf(outcome)).toEqual([['OVERRIDE_WITHOUT_EFFECT', 'overrides[0].image[0].value']]);
    expect(outcome).toMatchObject({ applied: [], unmatched: ['overrides[0]'] });
  });

  test('an unknown container is a warning', () => {
    const outcome = overridden(deployment, {
      image: [{ component: 'tag', operator: 'Replace', value: '1', scope: 'Main', containers: ['init'] }],
    });
    expect(notesOf(outcome)).toEqual([['UNKNOWN_CONTAINER', 'overrides[0].image[0].containers']]);
  });

  test('an object without containers gives a warning', () => {
    expect(notesOf(overridden(configMap, { image: [{ component: 'tag', operator: 'Replace', value: '1', scope: 'All' }] }))).toEqual([
      ['OVERRIDE_WITHOUT_EFFECT', 'overrides[0].image[0]'],
    ]);
  });

  test.each([
    ['a path that is not there', { path: '/spec/nope' }],
    ['a path to a number', { path: '/spec/replicas' }],
    ['a pointer that is none', { path: 'spec' }],
  ])('fails at %s', (_name, part) => {
    const outcome = overridden(deployment, { image: [{ component: 'tag', operator: 'Replace', value: '1', scope: 'All', ...part }] });
    expect(outcome).toMatchObject({ result: 'failed', path: 'overrides[0].image[0].path' });
  });

  test('fails at an invalid reference, without showing it', () => {
    const pod: Manifest = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'a', image: 'Hunter 2' }] },
    };
    const outcome = overridden(pod, { image: [{ component: 'tag', operator: 'Replace', value: '1', scope: 'All' }] });
    expect(outcome).toMatchObject({
      result: 'failed',
      path: 'overrides[0].image[0]',
      message: expect.stringContaining('/spec/containers/0/image'),
    });
    expect(JSON.stringify(outcome)).not.toContain('Hunter');
  });

  test.each<[string, string, readonly string[]]>([
    ['v1', 'Pod', ['spec']],
    ['v1', 'PodTemplate', ['template', 'spec']],
    ['batch/v1', 'CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
    ['batch/v1', 'Job', ['spec', 'template', 'spec']],
    ['argoproj.io/v1alpha1', 'Rollout', ['spec', 'template', 'spec']],
  ])('finds the containers of %s %s', (apiVersion, kind, path) => {
    const inside = path.reduceRight<JsonObject>((value, key) => ({ [key]: value }), { containers: [{ name: 'a', image: 'a:1' }] });
    const object: Manifest = { apiVersion, kind, metadata: { name: 'x' }, ...inside };
    const changed = objectOf(overridden(object, { image: [{ component: 'tag', operator: 'Replace', value: '2', scope: 'All' }] }));
    expect(valueAt(changed, ...path, 'containers')).toEqual([{ name: 'a', image: 'a:2' }]);
  });
});
