import { randomInt } from 'node:crypto';
import type { KubernetesObject } from '../../core/objects.ts';
import { type ApiRefusal, isApiRefusal, notFound } from '../kinds/api-status.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { parseSimObject, storageKey } from '../kinds/sim-object.ts';
import { answerRefusal } from '../requests/send-answer.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { refuseObject, replaceStatus, withDefaults, withoutServerMetadata, withServerFields } from './admission.ts';
import { refuseCreation, refuseOtherName, refuseUpdate } from './refuse-write.ts';
import { storeChanged, storeCreated } from './store-write.ts';
import { readWriteRequest } from './write-options.ts';
import { readRequestObject } from './write-request.ts';

/** Letters of generated names. Vowels are left out, so that no words appear. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** Answers a POST with the created object. */
export async function answerCreate(context: ResourceContext): Promise<void> {
  const { storage } = context.target;
  const request = readWriteRequest(context);
  if (isApiRefusal(request)) return answerRefusal(context, request);
  const read = await readRequestObject(context, request.fieldValidation);
  if (isApiRefusal(read)) return answerRefusal(context, read);
  const { managedFields: _managedFields, ...metadata } = withName(read.object).metadata;
  const named: KubernetesObject = { ...read.object, metadata };
  const refused = refuseCreation(context, named);
  if (refused !== undefined) return answerRefusal(context, refused);
  const object = withServerFields(storage.kind, named);
  const invalid = refuseObject(context, { old: undefined, next: object });
  if (invalid !== undefined) return answerRefusal(context, invalid);
  await storeCreated(context, { request, object, warnings: read.warnings });
}

/** Answers a PUT of an object or of its status. */
export async function answerUpdate(context: ResourceContext): Promise<void> {
  const { storage, resource } = context.target;
  const request = readWriteRequest(context);
  if (isApiRefusal(request)) return answerRefusal(context, request);
  const read = await readRequestObject(context, request.fieldValidation);
  if (isApiRefusal(read)) return answerRefusal(context, read);
  const name = resource.name ?? '';
  const misnamed = refuseOtherName(read.object, name);
  if (misnamed !== undefined) return answerRefusal(context, misnamed);
  // The object may have changed while the body arrived, so it is read only now.
  const before = storage.get(storageKey(resource.namespace ?? '', name));
  if (before === undefined) return answerRefusal(context, notFound(storage.kind, name));
  const old = parseSimObject(storage.kind, before);
  const next = updatedObject(context, { old, object: read.object });
  if (isApiRefusal(next)) return answerRefusal(context, next);
  const { subresource } = resource;
  const options = subresource === undefined ? {} : { subresource };
  await storeChanged(context, { request, before, object: next, warnings: read.warnings, options });
}

/** Returns the object after an update: everything except the status, or only the status. Or returns a refusal. */
export function updatedObject(
  context: ResourceContext,
  { old, object }: { readonly old: KubernetesObject; readonly object: KubernetesObject },
): KubernetesObject | ApiRefusal {
  const { kind } = context.target.storage;
  const refused = refuseUpdate(kind, { old, object });
  if (refused !== undefined) return refused;
  const isStatus = context.target.resource.subresource === 'status';
  const next = withDefaults(kind, merged(kind, { old, object, isStatus }), context.target.resource.version);
  return refuseObject(context, { old, next }) ?? next;
}

function withName(object: KubernetesObject): KubernetesObject {
  const { name, generateName } = object.metadata;
  if ((name !== undefined && name !== '') || typeof generateName !== 'string' || generateName === '') return object;
  const suffix = Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return { ...object, metadata: { ...object.metadata, name: `${generateName}${suffix}` } };
}

/** Returns the object after a PUT: the new object with the old status. After a PUT of the status: the old object with the new status. */
function merged(
  kind: SimKind,
  { old, object, isStatus }: { readonly old: KubernetesObject; readonly object: KubernetesObject; readonly isStatus: boolean },
): KubernetesObject {
  if (isStatus) return replaceStatus(old, object.status);
  const next = withoutServerMetadata(object, old.metadata.name);
  return kind.hasStatus ? replaceStatus(next, old.status) : next;
}
