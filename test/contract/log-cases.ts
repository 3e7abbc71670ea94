import { expect } from 'vitest';
import { type DeclareCase, type Place, statusOf } from './place.ts';

/**
 * The part of `pods/log` that an API server answers itself.
 *
 * A bare API server has no kubelet, so answers of kubelets cannot be compared here. The embedded server follows the kubelet's source, and
 * was compared with clusters that have a simulated kubelet.
 */
export function logCases(declare: DeclareCase): void {
  declare('answers 204 for the log of a Pod without a node', async ({ client, at, create }) => {
    await create(at('pods'), podOf('web', ['main']));
    const answer = await client.get(`${at('pods')}/web/log?container=main&follow=true`);
    expect([answer.status, answer.text]).toEqual([204, '']);
  });

  declare('answers 404 for an absent Pod and for a Pod on an absent node', async ({ client, at, create }) => {
    expect(statusOf((await client.get(`${at('pods')}/none/log`)).json())).toMatchObject({ code: 404, reason: 'NotFound' });
    await create(at('pods'), podOf('bound', ['main'], { nodeName: 'nowhere' }));
    const status = (await client.get(`${at('pods')}/bound/log`)).json();
    expect(statusOf(status)).toMatchObject({ code: 404, reason: 'NotFound' });
    expect(status.details).toEqual({ name: 'nowhere', kind: 'pods' });
  });

  declare('requires the name of a container if a Pod has several, and refuses a name that the Pod does not have', async (place) => {
    const { create, at } = place;
    await create(at('pods'), podOf('two', ['a', 'b']));
    await create(at('pods'), { ...podOf('one', ['a'], { initContainers: [{ name: 'first', image: 'x' }] }) });
    expect(await codesOf(place, 'two/log', 'two/log?container=b', 'two/log?container=c')).toEqual([400, 204, 400]);
    expect(await codesOf(place, 'one/log', 'one/log?container=first', 'one/log?container=b')).toEqual([204, 204, 400]);
    const message = (await place.client.get(`${at('pods')}/two/log`)).json().message;
    expect(message).toBe('a container name must be specified for pod two, choose one of: [a b]');
  });

  declare('refuses invalid options before it reads the Pod', async ({ client, at }) => {
    const ask = async (query: string) => statusOf((await client.get(`${at('pods')}/none/log?${query}`)).json());
    const invalid = (...fields: readonly string[]) => ({
      ...{ kind: 'Status', code: 422, reason: 'Invalid' },
      causes: fields.map((field) => ({ reason: 'FieldValueInvalid', field })),
    });
    expect(await ask('tailLines=-1')).toEqual(invalid('tailLines'));
    expect(await ask('sinceSeconds=0&limitBytes=0&tailLines=-1')).toEqual(invalid('tailLines', 'limitBytes', 'sinceSeconds'));
    expect(await ask('sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z')).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueForbidden' }],
    });
    for (const query of ['tailLines=', 'tailLines=1.5', 'limitBytes=99999999999999999999', 'sinceTime=2026-01-01']) {
      expect(await ask(query)).toMatchObject({ code: 400, reason: 'BadRequest' });
    }
    expect(await ask('tailLines=2&tailLines=-1&unknown=1&sinceTime=')).toMatchObject({ code: 404 });
  });

  declare('refuses a client that accepts text only, and every other method', async ({ client, at, create }) => {
    await create(at('pods'), podOf('web', ['main']));
    const path = `${at('pods')}/web/log`;
    const accepted = async (accept: string) => (await client.send('GET', path, { headers: { accept } })).status;
    expect([await accepted('text/plain'), await accepted('application/json, */*'), await accepted('*/*')]).toEqual([406, 204, 204]);
    expect([(await client.send('POST', path)).status, (await client.send('DELETE', path)).status]).toEqual([405, 405]);
    expect((await client.get(`${path}/more`)).status).toBe(404);
  });
}

async function codesOf({ client, at }: Place, ...paths: readonly string[]): Promise<readonly number[]> {
  const codes: number[] = [];
  for (const path of paths) codes.push((await client.get(`${at('pods')}/${path}`)).status);
  return codes;
}

function podOf(name: string, containers: readonly string[], spec: object = {}): object {
  const metadata = { name };
  return { metadata, spec: { containers: containers.map((container) => ({ name: container, image: 'x' })), ...spec } };
}
