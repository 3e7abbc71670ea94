import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { idOfObject } from '../../../src/core/object-ids.ts';
import type { MigrationsPorts } from '../../../src/migrate/api/migrations-ports.ts';
import { readMigrateInput } from '../../../src/migrate/api/read-migrate-input.ts';

const context = { caller: { key: 'alice' }, signal: new AbortController().signal };
const vault = { group: 'bank.example', version: 'v1beta3', kind: 'Vault', namespaced: true };

/** Only the cluster `bank` serves Vaults, and only `north` is visible. */
const ports = {
  members: {
    all: () => ['north', 'bank'].map((name) => ({ name: clusterName(name) })),
    get: (name: string) => ({ name }),
    objects: {
      served: (cluster: string, { kind }: { readonly kind: string }) => (cluster === 'bank' && kind === 'Vault' ? vault : 'absent'),
    },
  },
  access: { maySeeCluster: (_caller: unknown, name: string) => name === 'north' },
  hooks: [],
  requesterOfCaller: () => ({ user: 'alice', groups: [], extra: {} }),
  clock: { now: () => 0 },
} as unknown as MigrationsPorts;

test.each([['Vault'], ['Nothing']])(
  'an id of the kind %s is refused in the same words, whether only a hidden cluster serves the kind or none',
  (kind) => {
    const messages = ['north', 'bank', 'nowhere'].map((cluster) => {
      const apps = [{ id: idOfObject({ cluster: clusterName(cluster), group: 'bank.example', kind, namespace: 'shop', name: 'x' }) }];
      try {
        return readMigrateInput(ports, context, { namespace: 'shop', name: 'm', from: 'north', to: 'north', apps });
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(messages).toEqual(Array(3).fill(`apps[0].id: expected a kind that a cluster serves, got ${kind}`));
  },
);
