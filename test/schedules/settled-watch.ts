import { setTimeout as sleep } from 'node:timers/promises';
import { type FleetState, type ScheduledSpec, violationsOfPropagation } from './invariants.ts';
import { type LiveObject, type MemberCluster, pathOf } from './member-cluster.ts';
import type { ScheduleWorld } from './schedule.ts';

/**
 * Checks, while a schedule runs, that each generation is Settled only after its copies are correct. Reads its ConfigMaps directly before
 * and after
 * the status. A copy that only the gateway wrote must then hold the content of the generation.
 */
export function watchSettled(world: ScheduleWorld, signal: AbortSignal): { violations(): readonly string[] } {
  const found: string[] = [];
  const checked = new Set<string>();
  void (async () => {
    while (!signal.aborted) {
      await checkOnce(world, checked, found).catch(() => undefined);
      await sleep(500);
    }
  })();
  return { violations: () => found };
}

async function checkOnce({ members, namespace }: ScheduleWorld, checked: Set<string>, found: string[]): Promise<void> {
  const [hub] = members as readonly [MemberCluster];
  for (const propagation of await hub.list(pathOf('Propagation', namespace))) {
    const { metadata, status, spec } = propagation;
    const { generation } = metadata as LiveObject['metadata'] & { readonly generation: number };
    const key = `${metadata.uid} ${generation}`;
    if (status?.phase !== 'Settled' || status.observedGeneration !== generation || checked.has(key)) continue;
    checked.add(key);
    const { template, placement } = spec as unknown as ScheduledSpec;
    // A source object changes without a new generation, so its copies can be checked only at rest.
    if (template.some(({ ref }) => ref !== undefined)) continue;
    const objects = await Promise.all(
      members.map(async ({ name, get }): Promise<[string, readonly LiveObject[]]> => {
        if (!placement.clusters.includes(name)) return [name, []];
        const copies = await Promise.all(
          template.map(async ({ json }) => {
            const live = json?.kind === 'ConfigMap' ? await get(pathOf('ConfigMap', namespace, json.metadata.name)) : undefined;
            return live !== undefined && live.data?.token !== 'edited by hand' && isWrittenByGatewayLast(live) ? [live] : [];
          }),
        );
        return [name, copies.flat()];
      }),
    );
    const after = await hub.get(pathOf('Propagation', namespace, metadata.name));
    if ((after?.metadata as typeof metadata & { readonly generation?: number })?.generation !== generation) continue;
    const state: FleetState = {
      propagations: [propagation],
      shares: [],
      objects: new Map(objects),
      untouchables: [],
      podsOfJobs: new Map(),
    };
    // A missing copy may have been deleted by hand a moment ago. Only an existing copy can contradict the status.
    found.push(
      ...violationsOfPropagation(propagation, state)
        .filter((violation) => violation.includes('expected data'))
        .map((violation) => `when generation ${generation} was first called Settled: ${violation}`),
    );
  }
}

/** True if the gateway is the only field manager of the object. */
function isWrittenByGatewayLast({ metadata }: LiveObject): boolean {
  const { managedFields = [] } = metadata as LiveObject['metadata'] & { readonly managedFields?: readonly { readonly manager?: string }[] };
  return managedFields.every(({ manager }) => manager === 'muster');
}
