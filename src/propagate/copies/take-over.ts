import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { marksOf } from './copy-marks.ts';
import { copyFault } from './copy-reason.ts';
import { settledSkipped } from './copy-task.ts';
import { type CopyStep, type CopyToWrite, failedCopy, isRaced } from './copy-to-write.ts';
import { oldValuesOf } from './observed.ts';
import { isAppliedByUs, turnedToApply } from './owned-fields.ts';
import { updateCopy } from './update-copy.ts';

/** An object stands there whose uid is not in the inventory: what becomes of it is said by `conflict` (propagation.md 5.2). */
export async function takeOver(copy: CopyToWrite, object: KubernetesObject): Promise<CopyStep> {
  const { spec, log, share, owner, generation } = copy.work;
  const stranger = asStranger(copy);
  switch (spec.conflict) {
    case 'Abort':
      return conflict(stranger, 'it exists and is not ours');
    case 'CreateOnly':
      return settledSkipped(stranger.task.entry, { message: 'it exists already' });
    case 'Adopt':
    case 'ServerSideApply': {
      const other = otherOwner(stranger, object);
      return other === undefined ? await take(stranger, object) : conflict(stranger, other);
    }
    case 'Overwrite': {
      const { kind, namespace, name } = copy.task.object.key;
      const propagation = `${owner.namespace}/${owner.name}`;
      log.info({ cluster: share.cluster, kind, namespace, name, propagation, generation, uid: object.metadata.uid }, 'took over an object');
      return await take(stranger, object);
    }
    default:
      return spec.conflict satisfies never;
  }
}

/** What the inventory knew was another object: nothing of it holds for this one. */
function asStranger(copy: CopyToWrite): CopyToWrite {
  const { key, intent, health, fault } = copy.task.entry;
  const kept = { ...(intent === undefined ? {} : { intent }), ...(fault === undefined ? {} : { fault }) };
  return { ...copy, task: { ...copy.task, entry: { key, state: 'Intended', health, ...kept } } };
}

async function take(copy: CopyToWrite, object: KubernetesObject): Promise<CopyStep> {
  const state = copy.work.spec.conflict === 'ServerSideApply' ? 'Shared' : 'Owned';
  const old = state === 'Owned' ? oldValuesOf(copy.task.object, object, copy.work) : undefined;
  const turned = await turnToApply(copy, object);
  if ('result' in turned) return turned;
  return await updateCopy(copy, { object: turned.object, force: false, state, old });
}

/** Of what was ours by Update already: turned to Apply first, in a write of its own. */
async function turnToApply(copy: CopyToWrite, object: KubernetesObject): Promise<CopyStep | { readonly object: KubernetesObject }> {
  const managedFields = turnedToApply(object);
  if (managedFields === undefined) return { object };
  const { uid, resourceVersion } = object.metadata;
  const patch: JsonObject = { metadata: { uid, resourceVersion, managedFields } };
  const answer = await copy.door.write((client, signal) =>
    client.patch({ ...copy.task.address, type: 'merge', patch, run: 'real' }, signal),
  );
  switch (answer.result) {
    case 'answered':
      return { object: answer.object };
    case 'absent':
      return { result: 'again' };
    case 'failed':
      return isRaced(answer.fault) ? { result: 'again' } : failedCopy(copy, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/** Whose it is, where taking it would undo what Muster does or did there: one field manager has one set of fields, and drops what it leaves out. */
function otherOwner({ work }: CopyToWrite, object: KubernetesObject): string | undefined {
  const { propagation, source = '' } = marksOf(object);
  const isApplied = isAppliedByUs(object);
  if (isApplied && propagation !== undefined && propagation !== work.owner.uid) return `it belongs to another Propagation: ${source}`;
  if (isApplied && propagation === undefined && work.spec.conflict === 'ServerSideApply')
    return 'it holds fields that were applied with Muster';
  return undefined;
}

function conflict(copy: CopyToWrite, message: string): CopyStep {
  return failedCopy(copy, copyFault(copy.work.share.cluster, 'CONFLICT', message));
}
