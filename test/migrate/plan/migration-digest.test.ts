import { expect, test } from 'vitest';
import { parseMigrationSpec } from '../../../src/migrate/model/migration.ts';
import type { AppPlan } from '../../../src/migrate/model/migration-plan.ts';
import { migrationDigestOf } from '../../../src/migrate/plan/migration-digest.ts';

test('the digest changes with the spec of the Propagation of an application', () => {
  const spec = parseMigrationSpec({ from: 'south', to: 'east', labels: { matchLabels: { app: 'web' } } });
  if ('problems' in spec) throw new Error('expected a valid spec');
  const digestOf = (image: string) => {
    const propagation = { metadata: { uid: 'u' }, document: { template: [{ image }] } };
    const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' };
    const app = { key, from: 2, to: 2, target: [], source: [], propagated: { propagation, placement: { clusters: ['east'] } } };
    return migrationDigestOf(spec, { apps: [app as unknown as AppPlan] });
  };
  expect(digestOf('web:1')).toBe(digestOf('web:1'));
  expect(digestOf('web:2')).not.toBe(digestOf('web:1'));
});
