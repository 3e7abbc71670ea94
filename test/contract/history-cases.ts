import { expect } from 'vitest';
import { type DeclareCase, namesOf, statusOf } from './place.ts';

/** Requests after the server has forgotten its history. These cases run alone, because they affect others. */
export function historyCases(declare: DeclareCase): void {
  declare(
    'answers 410 for an expired token or version, with a token to list the rest at a newer version',
    async ({ client, at, create, namespace, server }) => {
      const path = at('events');
      const involvedObject = { kind: 'Pod', name: 'p', namespace };
      for (let n = 0; n < 4; n++) await create(path, { metadata: { name: `e${n}` }, involvedObject, reason: 'Because' });
      const { metadata } = (await client.get(`${path}?limit=2`)).json();
      await server.forgetEvents();

      const expired = (await client.get(`${path}?limit=2&continue=${metadata.continue}`)).json();
      expect(statusOf(expired)).toEqual({ kind: 'Status', code: 410, reason: 'Expired', causes: [] });
      const rest = (await client.get(`${path}?limit=2&continue=${expired.metadata.continue}`)).json();
      expect(namesOf(rest)).toEqual(['e2', 'e3']);
      const exact = (await client.get(`${path}?resourceVersionMatch=Exact&resourceVersion=${metadata.resourceVersion}`)).json();
      expect(statusOf(exact)).toEqual({ kind: 'Status', code: 410, reason: 'Expired', causes: [] });
      using watch = await client.watch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`);
      expect(watch.status).toBe(200);
      const told = await watch.next();
      expect(told?.type).toBe('ERROR');
      expect(told?.object).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
      expect(await watch.next()).toBeUndefined();
    },
  );
}
