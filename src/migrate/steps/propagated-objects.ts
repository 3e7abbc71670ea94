import { numberAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { marks, type Propagation } from '../../propagate/model/propagation.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import {
  type AppPass,
  clusterOf,
  countPathIn,
  isReachable,
  type MigrationSide,
  mirroredIn,
  outcomeOfFault,
  readInCluster,
  type StepOutcome,
} from './app-pass.ts';
import { waitUnhealthy } from './health-wait.ts';
import { workloadHealthOf } from './workload-health.ts';

/** Returns the Propagation of an application from the mirror. Undefined if it does not exist any more, or was replaced by another one. */
export function propagationOfApp({ ports }: Pick<AppPass, 'ports'>, { propagation }: MigratedApp): Propagation | undefined {
  if (propagation === undefined) return undefined;
  const read = ports.propagations.read({ namespace: propagation.namespace, name: propagation.name });
  return read.result === 'held' && read.propagation.metadata.uid === propagation.uid ? read.propagation : undefined;
}

/** True if the hub shows that the Propagation of an application does not exist any more. False while the hub is not read. */
export function isPropagationGone({ ports }: Pick<AppPass, 'ports'>, { propagation }: MigratedApp): boolean {
  if (propagation === undefined) return true;
  const read = ports.propagations.read({ namespace: propagation.namespace, name: propagation.name });
  return read.result === 'absent' || (read.result === 'held' && read.propagation.metadata.uid !== propagation.uid);
}

/**
 * Returns the copies of a propagated application as its mirrors show them, for the hook: those in the target, or in the source if the target
 * does not have the workload.
 */
export function propagatedManifests(pass: AppPass, app: MigratedApp): readonly Manifest[] {
  const propagation = propagationOfApp(pass, app);
  if (propagation === undefined) return [];
  for (const side of ['target', 'source'] as const) {
    const entries = pass.ports.shares.read(propagation.metadata, clusterOf(pass, side))?.entries ?? [];
    const found = entries.flatMap(({ key }) => {
      const mirrored = mirroredIn(pass, side, key);
      return mirrored.result === 'held' ? [{ key, object: mirrored.object }] : [];
    });
    if (found.some(({ key }) => textOfKey(key) === textOfKey(app.key)))
      return found.map(({ key: { apiVersion, kind }, object }) => ({ ...object, apiVersion, kind }) as unknown as Manifest);
  }
  return [];
}

/** True if the copies in the cluster have the current generation, and are rolled out. */
export function isSettledIn(pass: AppPass, { metadata, status }: Propagation, side: MigrationSide): boolean {
  if (status.observedGeneration !== metadata.generation) return false;
  const line = status.clusters?.find(({ cluster }) => cluster === clusterOf(pass, side));
  return line?.phase === 'Settled' || line?.phase === 'Soaking';
}

/**
 * Returns the outcome of an application whose copies in the source must stay, because those in the target are not healthy. Undefined if
 * they are healthy, or if the Propagation does not exist any more. While the copies in the source are held, a live read of the workload in
 * the target must confirm that it is healthy.
 */
export async function unhealthyTarget(
  pass: AppPass,
  app: MigratedApp,
  propagation: Propagation | undefined,
): Promise<StepOutcome | undefined> {
  if (propagation === undefined) return undefined;
  const mirrored = mirroredIn(pass, 'target', app.key);
  const copy = mirrored.result === 'held' ? mirrored.object : undefined;
  const unhealthy = unhealthyCopy(pass, app, { propagation, copy });
  if (unhealthy !== undefined || propagation.metadata.annotations[marks.heldDrain] === undefined) return unhealthy;
  const live = await readInCluster(pass, 'target', app.key);
  if (live.result === 'failed') return outcomeOfFault(pass, app, live.fault);
  return live.result === 'stopped' ? { type: 'stopped' } : unhealthyCopy(pass, app, { propagation, copy: live.object });
}

interface PropagatedCopy {
  readonly propagation: Propagation;
  /** The workload in the target. Undefined: it does not exist. */
  readonly copy: KubernetesObject | undefined;
}

function unhealthyCopy(pass: AppPass, app: MigratedApp, { propagation, copy }: PropagatedCopy): StepOutcome | undefined {
  const expected = { countPath: countPathIn(pass, app), atLeast: neededCopies(pass, app, propagation) };
  const health = copy === undefined ? undefined : workloadHealthOf(groupKindOfKey(app.key), copy, expected);
  if (isSettledIn(pass, propagation, 'target') && isReachable(pass, 'target') && health?.phase === 'done') return undefined;
  const line = propagation.status.clusters?.find(({ cluster }) => cluster === clusterOf(pass, 'target'));
  const message = health === undefined ? `it does not exist in ${clusterOf(pass, 'target')}` : (line?.message ?? health.message);
  return waitUnhealthy(pass, { ...app, source: [] }, message);
}

/**
 * Returns the number of healthy replicas that the target must have before the source loses its copies. A Propagation writes the number into
 * the spec, so 1 is enough here. With `replicas.mode: External`, autoscalers or users scale each copy: the number is that of the source, but
 * not more than that of the plan.
 */
function neededCopies(pass: AppPass, app: MigratedApp, { spec }: Propagation): number {
  if ('problems' in spec || spec.replicas.mode !== 'External') return Math.min(app.to, 1);
  const source = mirroredIn(pass, 'source', app.key);
  const present = source.result === 'held' ? (numberAt(source.object, ...(countPathIn(pass, app) ?? ['spec', 'replicas'])) ?? 1) : app.from;
  return Math.min(app.to, Math.max(present, 1));
}
