import { expect, test } from 'vitest';
import { rolloutOf } from '../../../src/propagate/status/copy-state.ts';
import { healthOf } from '../../../src/propagate/status/health.ts';

const deployment = { group: 'apps', kind: 'Deployment' };
const job = { group: 'batch', kind: 'Job' };

test('health does not decide about waves: a Deployment with only its old Pod available is healthy, and not rolled out', () => {
  const object = {
    metadata: { generation: 2 },
    spec: { replicas: 1 },
    status: { observedGeneration: 2, replicas: 2, updatedReplicas: 1, availableReplicas: 1 },
  };
  expect([healthOf(deployment, object), rolloutOf(deployment, object).phase]).toEqual(['Healthy', 'progressing']);
});

test.each([
  ['nothing yet', {}, 'progressing', '0 active, 0 succeeded'],
  ['running', { active: 1 }, 'progressing', '1 active, 0 succeeded'],
  ['suspended', { conditions: [{ type: 'Suspended', status: 'True' }] }, 'progressing', 'suspended'],
  ['failing', { conditions: [{ type: 'FailureTarget', status: 'True' }] }, 'progressing', '0 active, 0 succeeded'],
  [
    'failed',
    { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] },
    'failed',
    'failed: BackoffLimitExceeded',
  ],
  ['not failed', { conditions: [{ type: 'Failed', status: 'False' }] }, 'progressing', '0 active, 0 succeeded'],
  ['complete', { succeeded: 3, conditions: [{ type: 'Complete', status: 'True' }] }, 'done', 'complete: 3 succeeded'],
])('a Job that is %s', (_, status, phase, message) => {
  expect(rolloutOf(job, { status })).toEqual({ phase, message });
});

test.each([
  [{ group: '', kind: 'ConfigMap' }, { data: {} }, 'done'],
  [{ group: '', kind: 'PersistentVolumeClaim' }, { status: { phase: 'Pending' } }, 'progressing'],
  [{ group: 'example.com', kind: 'Widget' }, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, 'progressing'],
  [{ group: 'example.com', kind: 'Widget' }, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, 'done'],
  // A Deployment of another group has no rule, so its conditions decide.
  [{ group: 'example.com', kind: 'Deployment' }, { metadata: { generation: 9 } }, 'done'],
])('%o is gated by its health', (kind, object, phase) => {
  expect(rolloutOf(kind, object).phase).toBe(phase);
});
