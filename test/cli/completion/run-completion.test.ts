import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { standing } from '../../support/cli/intent-files.ts';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

const placed = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: { replicas: 1, selector: { matchLabels: { app: name } }, template: { metadata: {}, spec: { containers: [] } } },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ north: [placed('web'), placed('api'), standing('settings', {})], south: [placed('web')] });
  await gateway.query('{ deployments { totalCount } configMaps { totalCount } }');
});
afterAll(() => gateway[Symbol.asyncDispose]());

const complete = async (...words: string[]) => {
  const { code, out, err } = await runCli(gateway, ['__complete', ...words]);
  expect([code, err]).toEqual([0, '']);
  const lines = out.trimEnd().split('\n');
  return { directive: lines.at(-1), words: lines.slice(0, -1).map((line) => line.split('\t')[0]) };
};

describe('completes', () => {
  test.each([
    [['desc'], ['describe']],
    [['get', 'deploym'], ['deployments']],
    [['get', 'pods,deploym'], ['pods,deployments']],
    [
      ['get', 'deploy', ''],
      ['api', 'web'],
    ],
    [['get', 'deploy', 'web', ''], ['api']],
    [['get', '-n', 'default', 'deploy', '--context', 'south', ''], ['web']],
    [['get', 'deploy', '-n', 'nowhere', ''], []],
    [['describe', 'deploy/w'], ['deploy/web']],
    [
      ['get', 'pods', '--context', ''],
      ['north', 'south'],
    ],
    [['get', 'pods', '--show'], ['--show-labels']],
    [
      ['get', 'pods', '-o', 'js'],
      ['json', 'jsonpath=', 'jsonpath-file='],
    ],
    [
      ['get', 'po', '--where', ''],
      [
        ...['phase', 'ready', 'restarts', 'lastRestart', 'requests'],
        ...['metadata.name', 'metadata.namespace', 'metadata.creationTimestamp', 'cluster.name', 'cluster.region'],
      ],
    ],
    [['get', 'jobs.batch', '--sort-by', 'ph'], ['phase']],
    [['rollout', 'st'], ['status']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['get', 'nosuch', ''], []],
    [['nosuch', ''], []],
  ])('%j', async (words, expected) => {
    const { words: found, directive } = await complete(...words);
    if (words.at(0) !== 'nosuch') expect(found.toSorted()).toEqual(expected.toSorted());
    expect(directive).toBe(':4');
  });

  test('files where files are meant', async () => {
    expect(await complete('apply', '-f', '')).toEqual({ directive: ':0', words: [] });
  });

  test('commands also if no gateway answers', async () => {
    const environment = { MUSTER_GATEWAY: 'http://127.0.0.1:1' };
    expect(await runCli(gateway, ['__complete', 'get', 'pods', ''], { environment })).toEqual({ code: 0, out: ':4\n', err: '' });
  });
});

describe('describes each candidate', () => {
  const run = (...args: string[]) => runCli(gateway, args);

  test('api-resources lists kinds with the number of clusters', async () => {
    const { out } = await run('api-resources', '--api-group', 'apps', '-o', 'wide');
    expect(out).toMatch(/^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND +VERBS +CATEGORIES +CLUSTERS\n/);
    expect(out).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment .* 2\/2$/m);
    expect((await run('api-resources', '-o', 'name', '--namespaced=false')).out.split('\n')).toContain('nodes');
  });

  test('explain shows fields, computed ones too', async () => {
    const { out } = await run('explain', 'deploy.spec.replicas');
    expect(out).toMatch(/^KIND: +Deployment\nVERSION: +apps\/v1\n\nFIELD: replicas <Int>\n\nDESCRIPTION:\n/);
    const pods = (await run('explain', 'pods')).out;
    expect(pods).toMatch(/^ {2}restarts\t<Int!>$/m);
    // A line of a description has at most 76 characters after six spaces.
    expect(pods.split('\n').filter((line) => line.length > 82)).toEqual([]);
    expect((await run('explain', 'pods.spec')).out).toMatch(/^ {2}containers\t<\[Container!\]>$/m);
    expect(await run('explain', 'deploy.spec.replcas')).toMatchObject({
      code: 2,
      err: 'muster: no field replcas in deploy.spec.replcas: did you mean replicas?\n',
    });
  });

  test('version shows those of the gateway and the clusters', async () => {
    expect((await run('version')).out).toMatch(/^muster +1\.2\.3\ngateway +\d+\.\d+\.\d+\nnorth +v\S+\nsouth +v\S+\n$/);
  });
});
