import type { Manifest } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, clusterOf, mirroredIn } from './app-pass.ts';

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
