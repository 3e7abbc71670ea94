import { describe, expect, test, vi } from 'vitest';
import { keyOfKind } from '../../src/core/kinds.ts';
import { kindByAnyName } from '../../src/model/any-name.ts';
import { convertDefinition } from '../../src/model/convert-definition.ts';
import { createModel } from '../../src/model/create-model.ts';
import { committedModel, fixtureDefinition } from '../support/graph/corpus.ts';

const fixtures = ['widgets-north', 'names', 'machines', 'pods'].map((name) => convertDefinition(fixtureDefinition(name)));
const other = { ...convertDefinition(fixtureDefinition('machines')), group: 'cloud.example.com' };
const { model } = createModel({ baseline: committedModel(), custom: [...fixtures, other], prefixes: new Map() });

test.each([
  ...[
    'Pod',
    'pod',
    'pods',
    'po',
    'PODS',
    ' pods ',
    'v1.pods',
    'v1.Pod',
    'core.v1.pods',
    'v1.core.pods',
    'pods.v1',
    'pods.core',
    'po.core',
  ].map((name) => [name, 'Pod']),
  ...[
    'Deployment',
    'deploy',
    'deployments.apps',
    'Deployment.apps',
    'deploy.apps',
    'deployments.v1.apps',
    'apps.v1.deployments',
    'v1.apps.deployments',
  ].map((name) => [name, 'Deployment.apps']),
  ...['hpa', 'autoscaling.v1.horizontalpodautoscalers', 'autoscaling.v2.HorizontalPodAutoscaler'].map((name) => [
    name,
    'HorizontalPodAutoscaler.autoscaling',
  ]),
  ...['Widget', 'wd', 'ExampleWidget', 'Widget.example.com', 'widgets.v1.example.com', 'example.com.v1.widgets'].map((name) => [
    name,
    'Widget.example.com',
  ]),
  ...['Pod.example.net', 'po.example.net', 'ExampleNetPod'].map((name) => [name, 'Pod.example.net']),
  ['Machine.infra.example.com', 'Machine.infra.example.com'],
  ['cloud.example.com.v1beta1.machines', 'Machine.cloud.example.com'],
  ['endpoints', 'Endpoints'],
  ['ev', 'Event'],
])('%s is %s', (name, kind) => {
  expect(keyOfKind(kindByAnyName(model, name ?? ''))).toBe(kind);
});

describe('names that several kinds have', () => {
  test('means the built-in one', () => {
    expect(kindByAnyName(model, 'po').group).toBe('');
  });

  test('is refused where none is built in, with their full names', () => {
    const message = 'machines is ambiguous: expected one of Machine.cloud.example.com, Machine.infra.example.com';
    expect(() => kindByAnyName(model, 'machines')).toThrow(expect.objectContaining({ code: 'BAD_INPUT', message }));
    expect(() => kindByAnyName(model, 'wg')).toThrow('wg is ambiguous: expected one of Pod.example.net, Widget.example.com');
  });

  test('means the one whose own name it is before one whose short name it is', () => {
    const names = { ...convertDefinition(fixtureDefinition('names')), shortNames: ['widget'] };
    const both = createModel({ baseline: committedModel(), custom: [...fixtures, names], prefixes: new Map() });
    expect(kindByAnyName(both.model, 'widget').kind).toBe('Widget');
  });
});

test.each([
  ['Pdo', 'no kind Pdo; did you mean Pod?'],
  ['deplyoments', 'no kind deplyoments; did you mean deployments?'],
  ['deployments.app', 'no kind deployments.app; did you mean deployments.apps?'],
  ['v7.pods', 'no kind v7.pods'],
  ['pods.', 'no kind pods.; did you mean pods?'],
  ['Pod.', 'no kind Pod.; did you mean Pod?'],
  ['zzzzzzzzz', 'no kind zzzzzzzzz'],
  ['', 'no kind ""'],
  ['ComponentStatus', 'no kind ComponentStatus'],
])('%s is nothing', (name, message) => {
  expect(() => kindByAnyName(model, name)).toThrow(expect.objectContaining({ code: 'BAD_INPUT', message }));
});

test('thousands of spellings are looked up in a model whose names are gathered once', () => {
  const iterate = vi.spyOn(model.kinds, 'values');
  kindByAnyName(model, 'pod');
  iterate.mockClear();
  for (let count = 0; count < 5_000; count++) kindByAnyName(model, count % 2 === 0 ? 'po' : 'apps.v1.deployments');
  expect(iterate).not.toHaveBeenCalled();
  iterate.mockRestore();
});
