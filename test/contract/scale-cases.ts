import { expect } from 'vitest';
import { type DeclareCase, type Place, statusOf } from './place.ts';

/** Changes of a count through the subresource `scale`, with preconditions. */
export function scaleCases(declare: DeclareCase): void {
  declare('a patch of a scale is guarded by the uid and the version in it', async (place) => {
    const made = await scaled(place);
    const { uid, resourceVersion } = made.metadata;
    for (const metadata of [{ uid: '11111111-1111-1111-1111-111111111111' }, { resourceVersion: '1' }]) {
      const refused = await patch(place, { metadata, spec: { replicas: 3 } });
      expect([refused.status, statusOf(refused.json())]).toEqual([409, { kind: 'Status', code: 409, reason: 'Conflict', causes: [] }]);
      expect((await place.read(place.at('deployments/web', 'apps/v1'))).metadata.resourceVersion).toBe(resourceVersion);
    }
    const done = await patch(place, { metadata: { uid, resourceVersion }, spec: { replicas: 3 } });
    expect([done.status, done.json().kind, done.json().spec]).toEqual([200, 'Scale', { replicas: 3 }]);
  });

  declare('a PUT of a scale is guarded by its uid and version too', async (place) => {
    const { metadata } = await scaled(place);
    const scale = (uid: string) => ({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'web', namespace: place.namespace, uid },
      spec: { replicas: 4 },
    });
    const path = place.at('deployments/web/scale', 'apps/v1');
    expect((await place.client.send('PUT', path, { body: scale('11111111-1111-1111-1111-111111111111') })).status).toBe(409);
    expect((await place.client.send('PUT', path, { body: scale(metadata.uid) })).status).toBe(200);
  });
}

const patch = (place: Place, body: object) =>
  place.client.send('PATCH', place.at('deployments/web/scale', 'apps/v1'), {
    body,
    headers: { 'content-type': 'application/merge-patch+json' },
  });

function scaled(place: Place) {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'registry.example.com/web:1.0' }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  return place.create(place.at('deployments', 'apps/v1'), { metadata: { name: 'web' }, spec });
}
