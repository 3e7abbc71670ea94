import { isJsonObject, type Json, type JsonObject, parseJsonExactly } from '../../core/json.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { typeOfKind } from '../fields/kind-types.ts';
import { type ApiRefusal, apiRefusal, invalidObject, isApiRefusal } from '../kinds/api-status.ts';
import { isJsonType, unreadableBody } from '../requests/media-type.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import type { DeletionPropagation } from '../state/deletion.ts';
import { decodedObject } from './decode-object.ts';
import { type FieldValidation, isDry, unsupported } from './write-options.ts';

/** The object of a request, and warnings about it. */
export interface DecodedBody {
  readonly object: KubernetesObject;
  readonly warnings: readonly string[];
}

/**
 * Reads the object of a request's body, with undeclared fields removed, or returns a refusal. Kind, version and namespace must match the
 * path. The name may be missing.
 */
export async function readRequestObject(
  context: ResourceContext,
  fieldValidation: FieldValidation = 'Ignore',
): Promise<DecodedBody | ApiRefusal> {
  const { kind } = context.target.storage;
  const body = await readBody(context);
  if (isApiRefusal(body)) return body;
  const wrong = refuseIdentity(context, body);
  if (wrong !== undefined) return wrong;
  const { namespace } = context.target.resource;
  const metadata = isJsonObject(body.metadata) ? body.metadata : {};
  if (namespace !== undefined && typeof metadata.namespace === 'string' && metadata.namespace !== '' && metadata.namespace !== namespace) {
    return apiRefusal(400, 'the namespace of the provided object does not match the namespace sent on the request');
  }
  const placed = kind.namespaced ? { ...metadata, namespace } : metadata;
  const { version } = context.target.resource;
  const decoding = { kind: kind.kind, version, type: typeOfKind(kind, version), isCustom: kind.source === 'custom' };
  const decoded = decodedObject({ ...body, metadata: withoutUndefined(placed) }, { ...decoding, fieldValidation, from: 'body' });
  return isApiRefusal(decoded) ? decoded : { object: decoded.object as KubernetesObject, warnings: decoded.warnings };
}

/** Reads the body as a JSON object, or returns a refusal. */
export async function readBody({ request, body, target }: ResourceContext): Promise<JsonObject | ApiRefusal> {
  if (!isJsonType(request.headers['content-type'])) return unreadableBody;
  const text = await body();
  if (text === undefined) return apiRefusal(413, 'Request entity too large: limit is 3145728');
  const expected = `the object provided is unrecognized (must be of type ${target.storage.kind.kind}): couldn't get version/kind; json parse error`;
  try {
    const value = parseJsonExactly(text);
    return isJsonObject(value) ? value : apiRefusal(400, `${expected}: expected an object`);
  } catch (error) {
    return apiRefusal(400, `${expected}: ${error instanceof Error ? error.message : 'not JSON'}`);
  }
}

/**
 * Returns a refusal if the kind or version of the object differs from the path, else undefined. Only objects of built-in kinds may leave
 * them out.
 */
function refuseIdentity({ target }: ResourceContext, { kind, apiVersion, metadata }: JsonObject): ApiRefusal | undefined {
  const wanted = target.storage.kind;
  const wantedVersion = apiVersionOf({ group: wanted.group, version: target.resource.version });
  if (wanted.source === 'custom' && (kind === undefined || apiVersion === undefined)) {
    const missing = kind === undefined ? 'Kind' : 'apiVersion';
    return apiRefusal(400, `the object provided is unrecognized (must be of type ${wanted.kind}): Object '${missing}' is missing`);
  }
  if (apiVersion !== undefined && apiVersion !== wantedVersion) {
    return apiRefusal(400, `the API version in the data (${apiVersion}) does not match the expected API version (${wantedVersion})`);
  }
  if (kind === undefined || kind === wanted.kind) return undefined;
  if (wanted.source !== 'custom')
    return apiRefusal(400, `${kind} in version "${target.resource.version}" cannot be handled as a ${wanted.kind}`);
  const name = isJsonObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
  const cause = { reason: 'FieldValueInvalid', message: `Invalid value: "${kind}": must be ${wanted.kind}`, field: 'kind' };
  return invalidObject({ kind: String(kind), group: wanted.group, name }, [cause]);
}

const propagations: readonly DeletionPropagation[] = ['Foreground', 'Background', 'Orphan'];

/** The preconditions and options of a DELETE, from its body or query. */
export interface SimDeleteRequest {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Undefined: the default of the kind applies. */
  readonly propagation: DeletionPropagation | undefined;
  readonly isDry: boolean;
}

export async function readDeleteRequest(context: ResourceContext): Promise<SimDeleteRequest | ApiRefusal> {
  const text = await context.body();
  const body = text === undefined || text.trim() === '' ? {} : await readBody(context);
  if (isApiRefusal(body)) return body;
  const preconditions = isJsonObject(body.preconditions) ? body.preconditions : {};
  const given = textOf(body.propagationPolicy) ?? context.query.get('propagationPolicy') ?? undefined;
  const propagation = propagations.find((one) => one === given);
  if (given !== undefined && propagation === undefined) {
    const cause = unsupported('propagationPolicy', JSON.stringify(given), [...propagations, 'nil']);
    return invalidObject({ kind: 'DeleteOptions', group: 'meta.k8s.io', name: '' }, [cause]);
  }
  return {
    uid: textOf(preconditions.uid),
    resourceVersion: textOf(preconditions.resourceVersion),
    propagation,
    isDry: isDry(context) || Array.isArray(body.dryRun),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function withoutUndefined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
