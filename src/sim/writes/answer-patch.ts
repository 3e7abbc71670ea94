import { parse as parseYaml } from 'yaml';
import { isJsonObject, type Json, type JsonObject, parseJsonExactly } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { typeOfKind } from '../fields/kind-types.ts';
import { type ApiRefusal, apiRefusal, invalidObject, isApiRefusal, notFound } from '../kinds/api-status.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { parseSimObject, type SimObject, storageKey, wireText } from '../kinds/sim-object.ts';
import { answerRefusal } from '../requests/send-answer.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { answerApply } from './answer-apply.ts';
import { updatedObject } from './answer-create-update.ts';
import { answerApplyScale, answerPatchScale } from './answer-scale.ts';
import { decodedObject } from './decode-object.ts';
import { patchedValue, type SimPatchRequest, type SimPatchType } from './patch-object.ts';
import { refuseOtherName, refuseOtherUid } from './refuse-write.ts';
import { storeChanged } from './store-write.ts';
import { readWriteRequest } from './write-options.ts';

const patchTypes: Readonly<Record<string, SimPatchType>> = {
  'application/apply-patch+yaml': 'apply',
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
};

/** Answers a PATCH of an object, its status or its scale: server-side apply, JSON patch or merge patch. */
export async function answerPatch(context: ResourceContext): Promise<void> {
  const wanted = await readPatch(context);
  if (isApiRefusal(wanted)) return answerRefusal(context, wanted);
  const isScale = context.target.resource.subresource === 'scale';
  if (wanted.type === 'apply') {
    if (!isJsonObject(wanted.body)) return answerRefusal(context, apiRefusal(400, 'error decoding YAML: expected an object'));
    const applied = { request: wanted.request, applied: wanted.body };
    return isScale ? answerApplyScale(context, applied) : answerApply(context, applied);
  }
  return isScale ? answerPatchScale(context, wanted) : answerObjectPatch(context, wanted);
}

async function readPatch(context: ResourceContext): Promise<SimPatchRequest | ApiRefusal> {
  const { headers } = context.request;
  const type = patchTypes[headers['content-type']?.split(';')[0]?.trim() ?? ''];
  if (type === undefined) return { ...apiRefusal(415, '415: Unsupported Media Type'), details: {} };
  const request = readWriteRequest(context, type);
  if (isApiRefusal(request)) return request;
  const text = await context.body();
  if (text === undefined) return apiRefusal(413, 'Request entity too large: limit is 3145728');
  const body = type === 'apply' ? appliedIn(text) : jsonIn(text);
  if (body !== undefined) return { type, request, body };
  return apiRefusal(400, type === 'apply' ? 'error decoding YAML: error converting YAML to JSON' : 'error decoding patch: not JSON');
}

/**
 * Parses YAML as Go does: `y` is a boolean, `0644` is octal, and keys become text. JSON keeps exact numbers. Undefined if the text is
 * neither JSON nor YAML.
 */
function appliedIn(text: string): Json | undefined {
  const json = jsonIn(text);
  if (json !== undefined) return json;
  try {
    const value: unknown = parseYaml(text, { version: '1.1', merge: true, uniqueKeys: false });
    return value === null || value === undefined ? {} : parseJsonExactly(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

function jsonIn(text: string): Json | undefined {
  try {
    return parseJsonExactly(text);
  } catch {
    return undefined;
  }
}

async function answerObjectPatch(context: ResourceContext, wanted: SimPatchRequest): Promise<void> {
  const { storage, resource } = context.target;
  const { kind } = storage;
  const name = resource.name ?? '';
  const before = storage.get(storageKey(resource.namespace ?? '', name));
  if (before === undefined) return answerRefusal(context, notFound(kind, name));
  const patched = patchedValue(inVersion(kind, before, resource.version), wanted);
  if (isApiRefusal(patched)) return answerRefusal(context, patched);
  const decoding = {
    kind: kind.kind,
    version: resource.version,
    type: typeOfKind(kind, resource.version),
    isCustom: kind.source === 'custom',
  };
  const { fieldValidation } = wanted.request;
  const decoded = decodedObject(patched, { ...decoding, fieldValidation, from: 'patch' });
  if (isApiRefusal(decoded)) return answerRefusal(context, decoded);
  const object = decoded.object as KubernetesObject;
  const old = parseSimObject(kind, before);
  const refused = refuseOtherIdentity(context, { old, object });
  if (refused !== undefined) return answerRefusal(context, refused);
  const next = updatedObject(context, { old, object: withVersion(object, old) });
  if (isApiRefusal(next)) return answerRefusal(context, next);
  const options = resource.subresource === undefined ? {} : { subresource: resource.subresource };
  await storeChanged(context, { request: wanted.request, before, object: next, warnings: decoded.warnings, options });
}

/** Gives a patched object without a version the current version, because a patch that removes the version has no precondition. */
function withVersion(object: KubernetesObject, old: KubernetesObject): KubernetesObject {
  const { resourceVersion = '' } = object.metadata;
  const version = resourceVersion === '' ? old.metadata.resourceVersion : resourceVersion;
  return { ...object, metadata: { ...object.metadata, ...(version === undefined ? {} : { resourceVersion: version }) } };
}

function inVersion(kind: SimKind, stored: SimObject, version: string): JsonObject {
  const value = parseJsonExactly(wireText(kind, stored, { shape: 'object', version }));
  return isJsonObject(value) ? value : {};
}

/** Returns a refusal if a patch changes the kind or identity of the object, else undefined. */
function refuseOtherIdentity(
  { target }: ResourceContext,
  { old, object }: { readonly old: KubernetesObject; readonly object: KubernetesObject },
): ApiRefusal | undefined {
  const { kind } = target.storage;
  const misnamed = refuseOtherName(object, old.metadata.name);
  if (misnamed !== undefined) return misnamed;
  if (object.metadata.namespace !== old.metadata.namespace) {
    return apiRefusal(400, 'the namespace of the provided object does not match the namespace sent on the request');
  }
  if (object.kind !== kind.kind) {
    const message = `Invalid value: ${JSON.stringify(object.kind)}: expected ${kind.kind}`;
    return invalidObject({ kind: '', name: '' }, [{ reason: 'FieldValueInvalid', message, field: 'patch' }]);
  }
  return refuseOtherUid(kind, old, object.metadata.uid);
}
