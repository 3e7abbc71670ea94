import type { Members } from '../../../src/changes/members.ts';
import { numberAt } from '../../../src/core/json-at.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { portableOf } from '../../../src/manifests/portable-object.ts';
import { inWriteOrder } from '../../../src/manifests/write-order.ts';
import { kindsToRead } from '../../../src/migrate/discover/app-kinds.ts';
import { isTrafficPart } from '../../../src/migrate/discover/app-parts.ts';
import { findApps } from '../../../src/migrate/discover/find-apps.ts';
import { readLiveSource, type SourceObject } from '../../../src/migrate/discover/source-objects.ts';
import type { AppPlan, MigrationPlan } from '../../../src/migrate/model/migration-plan.ts';
import type { ValidMigration } from '../../../src/migrate/steps/step-ports.ts';

const noRoom = { pods: 0, cpu: '0', memory: '0' };

/** Plans a migration of all applications that the discovery finds, without any check. */
export async function planOfObjects(members: Members, { spec, metadata }: ValidMigration, signal: AbortSignal): Promise<MigrationPlan> {
  const { objects, asOfMs } = await readLiveSource(members, { cluster: clusterName(spec.from), kinds: kindsToRead([]) }, signal);
  const { apps } = findApps(spec, metadata.namespace, objects);
  const planned = apps.flatMap(({ workload, parts }) => (workload === undefined ? [] : [planOf(workload, parts)]));
  return {
    from: clusterName(spec.from),
    to: clusterName(spec.to),
    digest: 'digest',
    ok: true,
    asOfMs,
    needs: noRoom,
    free: noRoom,
    apps: planned,
    notes: [],
    faults: [],
  };
}

function planOf(workload: SourceObject, parts: readonly SourceObject[]): AppPlan {
  const all = inWriteOrder([workload, ...parts]);
  const { uid, labels } = workload.object.metadata;
  const count = numberAt(workload.object, 'spec', 'replicas') ?? 1;
  const stageOf = (one: SourceObject) => (isTrafficPart(one) ? 'Traffic' : 'Surge');
  return {
    ...{ key: workload.key, labels: labels ?? {}, from: count, to: count, needs: noRoom, free: noRoom },
    ...(uid === undefined ? {} : { uid }),
    target: all.map((one) => {
      const desired = portableOf(one.object as unknown as Manifest);
      return { key: one.key, action: 'CREATE', stage: stageOf(one), desired, desiredHash: '' };
    }),
    source: all.toReversed().map((one) => {
      const { uid: own } = one.object.metadata;
      return { key: one.key, action: 'DELETE', stage: stageOf(one), object: one.object, ...(own === undefined ? {} : { uid: own }) };
    }),
  };
}
