import { describe, expect, test } from 'vitest';
import { isPropagation, resolveTargets, targetClusters, type WriteTargetInput } from '../../../src/cli/writes/write-targets.ts';
import { parseObjectId } from '../../../src/core/object-ids.ts';
import { type CliSessionOptions, createCliSession } from '../../support/cli/cli-session.ts';

const kinds: Readonly<Record<string, object>> = {
  deploy: { group: 'apps', kind: 'Deployment', namespaced: true },
  'deployments.apps': { group: 'apps', kind: 'Deployment', namespaced: true },
  ns: { group: '', kind: 'Namespace', namespaced: false },
};

/** A session with a gateway of two clusters that serves these kinds. */
function session(options: CliSessionOptions = {}) {
  return createCliSession({
    answer: ({ query, variables }) => {
      if (query === '{ clusters { name } }') return { clusters: [{ name: 'north' }, { name: 'south' }] };
      const [word] = (variables?.kinds ?? []) as readonly string[];
      const kind = kinds[word ?? ''];
      return { resources: { sync: kind === undefined ? [] : [{ cluster: { name: 'north' }, kind }] } };
    },
    ...options,
  });
}

const textOf = (target: WriteTargetInput) => {
  if ('ref' in target) return Object.values(target.ref).join(' ');
  const { cluster, group, kind, namespace, name } = parseObjectId(target.id);
  return [cluster, `${kind}.${group}`, namespace, name].join(' ');
};

describe('words', () => {
  test.each<readonly [string, readonly string[], string | undefined, readonly string[]]>([
    ['a kind and names', ['deploy', 'web', 'api'], 'shop', ['Deployment.apps shop web', 'Deployment.apps shop api']],
    ['kinds with names', ['deploy/web', 'ns/shop'], 'shop', ['Deployment.apps shop web', 'Namespace.  shop']],
    ['no namespace', ['deployments.apps/web'], undefined, ['Deployment.apps default web']],
  ])('%s name objects in each cluster', async (_, words, namespace, expected) => {
    const { targets, propagations } = await resolveTargets(session(), words, namespace === undefined ? {} : { namespace });
    const everywhere = expected.flatMap((text) => ['north', 'south'].map((cluster) => `${cluster} ${text}`));
    expect(targets.map(textOf)).toEqual(everywhere);
    expect(propagations).toEqual([]);
  });

  test('name objects only in named clusters', async () => {
    const { targets } = await resolveTargets(session({ clusters: ['east'] }), ['deploy/web'], {});
    expect(targets.map(textOf)).toEqual(['east Deployment.apps default web']);
  });

  test.each(['propagation', 'propagations', 'prop', 'Propagation.muster.dev', 'propagations.v1alpha1.muster.dev'])(
    '%s exists only on the hub, without a request to other clusters',
    async (word) => {
      const it = session();
      expect(await resolveTargets(it, [word, 'web'], { namespace: 'shop' })).toEqual({
        targets: [],
        objects: [],
        propagations: [{ namespace: 'shop', name: 'web' }],
        isPartial: false,
      });
      expect(it.asked).toEqual([]);
    },
  );

  test('of one kind cause one query', async () => {
    const it = session();
    await resolveTargets(it, ['deploy/a', 'deploy/b', 'deploy/c'], {});
    expect(it.asked).toHaveLength(2);
  });

  test.each<readonly [string, readonly string[], object, number, string]>([
    ['nothing', [], {}, 2, 'expected KIND NAME, KIND/NAME or -f'],
    ['a kind alone', ['deploy'], {}, 2, 'expected names of deploy: a change needs names, -l, --field-selector or --all'],
    ['several kinds', ['deploy,sts', 'web'], {}, 2, 'expected one kind, got deploy,sts: write several kinds as KIND/NAME'],
    ['half a name', ['deploy/'], {}, 2, 'expected KIND/NAME, got deploy/'],
    ['too much of a name', ['a/b/c'], {}, 2, 'expected KIND/NAME, got a/b/c'],
    ['both ways of writing it', ['deploy/web', 'api'], {}, 2, 'expected KIND/NAME, got api'],
    ['names and files', ['deploy/web'], { filename: ['-'] }, 2, 'expected names or -f, got both'],
    ['what no cluster serves', ['nope/web'], {}, 1, 'no cluster serves nope'],
  ])('refuses %s', async (_, words, flags, exitCode, message) => {
    await expect(resolveTargets(session(), words, flags)).rejects.toMatchObject({ exitCode, message });
  });
});

test('files name objects in each cluster, and Propagations on the hub', async () => {
  const input = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: muster.dev/v1alpha1
kind: Propagation
metadata: {name: all}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
`;
  const { targets, propagations } = await resolveTargets(session({ input }), [], { filename: ['-'] });
  expect(targets.map(textOf)).toEqual([
    'north apps/v1 Deployment  web',
    'south apps/v1 Deployment  web',
    'north v1 ConfigMap shop settings',
    'south v1 ConfigMap shop settings',
  ]);
  expect(propagations).toEqual([{ namespace: 'default', name: 'all' }]);
});

test('the target clusters are the named ones, else all', async () => {
  expect(await targetClusters(session())).toEqual(['north', 'south']);
  expect(await targetClusters(session({ clusters: ['x'] }))).toEqual(['x']);
});

test.each([
  ['muster.dev/v1alpha1', 'Propagation', true],
  ['muster.dev/v1', 'Propagation', true],
  ['muster.dev/v1alpha1', 'ClusterShare', false],
  ['muster.device/v1', 'Propagation', false],
])('%s %s is a Propagation: %s', (apiVersion, kind, expected) => {
  expect(isPropagation({ apiVersion, kind })).toBe(expected);
});
