import { expect, test } from 'vitest';
import { clusterFailure } from '../../src/cluster/cluster-failure.ts';
import { clusterName } from '../../src/core/names.ts';
import type { ClusterCandidate } from '../../src/fleet/cluster-source.ts';
import { type RegistrationFacts, registrationStatus } from '../../src/registration/registration-status.ts';

const name = clusterName('south');
const settings = { labels: {}, namespaces: [], secrets: 'none', authorization: 'sar' } as const;
const endpoint = {
  name,
  server: 'https://api.test',
  trust: { type: 'system' },
  credentials: { type: 'none' },
  compression: 'auto',
} as const;
const usable: ClusterCandidate = { result: 'usable', name, settings, endpoint };
const broken = (problem: ReturnType<typeof clusterFailure>): ClusterCandidate => ({ result: 'broken', name, settings, problem });

const facts = {
  generation: 3,
  candidate: usable,
  role: { role: 'member' },
  member: { name, phase: 'SYNCED', faults: [], version: 'v1.36.3', uid: 'uid-1' },
  before: {},
  now: '2026-01-02T00:00:00Z',
} as const satisfies RegistrationFacts;

test('an accepted Cluster shows the state of its member', () => {
  expect(registrationStatus(facts)).toEqual({
    phase: 'Synced',
    version: 'v1.36.3',
    uid: 'uid-1',
    observedGeneration: 3,
    conditions: [
      {
        type: 'Accepted',
        status: 'True',
        reason: 'Accepted',
        message: 'the cluster is a member of the fleet',
        lastTransitionTime: '2026-01-02T00:00:00Z',
        observedGeneration: 3,
      },
    ],
  });
});

const invalid = clusterFailure('INVALID', 'users[0].user.exec: expected nothing here', 'NEVER');

test.each<[string, Partial<RegistrationFacts>, string | RegExp]>([
  ['Invalid', { candidate: broken(invalid) }, invalid.message],
  ['Invalid', { candidate: { ...usable, problems: [invalid] } as ClusterCandidate }, invalid.message],
  ['SecretMissing', { candidate: broken(clusterFailure('NOT_FOUND', 'spec.secretRef: expected an existing Secret')) }, /secretRef/],
  ['Duplicate', { role: { role: 'duplicate', same: clusterName('north') } }, /^north is the same cluster/],
  ['NameTaken', { role: { role: 'nameTaken' } }, /another source/],
])('a Cluster that is not accepted says %s', (reason, more, message) => {
  const { conditions } = registrationStatus({ ...facts, ...more }) as { conditions: readonly Record<string, string>[] };
  expect(conditions[0]).toMatchObject({ status: 'False', reason });
  expect(conditions[0]?.message).toMatch(message);
});

test('a Cluster that is no member shows no state of the member with its name', () => {
  expect(registrationStatus({ ...facts, role: { role: 'nameTaken' } })).not.toHaveProperty('uid');
});

test('the time of the condition stays while its status does', () => {
  const before = registrationStatus(facts);
  const timeOf = (more: Partial<RegistrationFacts>) => {
    const { conditions } = registrationStatus({ ...facts, before, now: '2026-02-01T00:00:00Z', ...more });
    return (conditions as readonly { lastTransitionTime: string }[])[0]?.lastTransitionTime;
  };
  expect(timeOf({ generation: 4 })).toBe('2026-01-02T00:00:00Z');
  expect(timeOf({ candidate: broken(invalid) })).toBe('2026-02-01T00:00:00Z');
});
