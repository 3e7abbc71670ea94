import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { MigratedApp } from '../../../src/migrate/model/migration-status-definition.ts';
import { statusOf } from './moving-fleet.ts';

/**
 * Returns one sentence per difference between the end of a migration and the ends that it may have: each application is Done, Undone or
 * Skipped, and the phase follows from that. A Migration that was deleted, or that began nothing, has no end to check.
 */
export function violationsOfEnd(
  migration: KubernetesObject | undefined,
  steps: ReadonlyMap<string, MigratedApp['step']>,
): readonly string[] {
  if (migration === undefined) return [];
  const { phase, apps = [], undoSince, notes } = statusOf(migration);
  if (phase === 'Failed' && apps.length === 0) return [];
  const open = apps.filter(({ step }) => !['Done', 'Undone', 'Skipped'].includes(step));
  const shown = open.map(({ key, step, reason, message, fault }) => [key.name, step, reason, message, fault]);
  if (open.length > 0) return [`not ended: ${phase} ${JSON.stringify(shown)}`];
  const kinds = new Set(steps.values());
  const expected = expectedPhase(kinds, undoSince !== undefined);
  return [
    ...(phase === expected ? [] : [`expected the phase ${expected}, got ${phase} ${JSON.stringify(notes)}`]),
    ...(undoSince !== undefined && kinds.has('Done') ? ['an application is Done after the undo'] : []),
  ];
}

function expectedPhase(steps: ReadonlySet<MigratedApp['step']>, isUndone: boolean): string {
  if (isUndone) return 'Settled';
  if (steps.has('Undone')) return 'Failed';
  return steps.has('Skipped') ? 'Degraded' : 'Settled';
}
