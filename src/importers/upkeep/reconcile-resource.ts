import { textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { finishResourceDeletion, removeLeftPropagation } from './end-propagation.ts';
import { recordAgainMs, recordPropagation } from './propagation-record.ts';
import { syncPropagation } from './sync-propagation.ts';
import { logOnce, type UpkeepPass, type UpkeepResult } from './upkeep-pass.ts';
import { writeResourceStatus } from './write-resource-status.ts';

/**
 * Runs one pass over one resource: makes its Propagation and its status match the resource. If the resource is gone, removes its
 * Propagation. While the resources of the hub are unread, for example because their kind is not served, nothing changes.
 */
export async function reconcileResource(pass: UpkeepPass): Promise<UpkeepResult> {
  const { resources, state } = pass;
  const read = resources.read(state.name);
  const { failures } = state;
  const result = read.result === 'held' ? await reconcileExisting(pass, read.object) : await withoutResource(pass, read.result);
  if (state.failures === failures) state.failures = 0;
  return result;
}

function withoutResource(pass: UpkeepPass, result: 'absent' | 'unread'): UpkeepResult | Promise<UpkeepResult> {
  // The mirror triggers a pass once it has its first list.
  return result === 'unread' ? { result: 'kept' } : removeLeftPropagation(pass);
}

async function reconcileExisting(pass: UpkeepPass, resource: KubernetesObject): Promise<UpkeepResult> {
  if (textAt(resource, 'metadata', 'deletionTimestamp') !== undefined) return finishResourceDeletion(pass, resource);
  const { outcome, againMs } = await syncPropagation(pass, resource);
  if (outcome === undefined) return { result: 'kept', againMs };
  if (outcome.problem === undefined) pass.state.logged = undefined;
  else logOnce(pass, outcome.problem);
  const unrecorded = outcome.propagation === undefined ? undefined : await recordPropagation(pass, resource, 'decided');
  const recordMs = unrecorded && recordAgainMs(pass, unrecorded);
  const delays = [againMs, recordMs, await writeResourceStatus(pass, resource, outcome)].filter((ms) => ms !== undefined);
  return { result: 'kept', againMs: delays.length === 0 ? undefined : Math.min(...delays) };
}
