import { isJsonObject, type Json, type JsonObject, parseJsonExactly } from '../../core/json.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { typeOfKind } from '../fields/kind-types.ts';
import { invalid, isRefusal, type Refusal, refusal } from '../kinds/api-status.ts';
import { isJsonType, unreadableBody } from '../requests/media-type.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import type { Propagation } from '../state/deletion.ts';
import { decodedObject } from './decode-object.ts';
import { type FieldValidation, isDry, unsupported } from './write-options.ts';

/** An object as it was sent, and what is remarked about it. */
export interface ReadObject {
  readonly object: KubernetesObject;
  readonly warnings: readonly string[];
}

/**
 * The object of a request's body: of the kind and version of the path, in its namespace, not yet named, with nothing in it that no schema names.
 */
export async function readObject(context: ResourceContext, fieldValidation: FieldValidation = 'Ignore'): Promise<ReadObject | Refusal> {
  const { kind } = context.asked.storage;
  const body = await readBody(context);
  if (isRefusal(body)) return body;
  const wrong = refuseIdentity(context, body);
  if (wrong !== undefined) return wrong;
  const { namespace } = context.asked.resource;
  const metadata = isJsonObject(body.metadata) ? body.metadata : {};
  if (namespace !== undefined && typeof metadata.namespace === 'string' && metadata.namespace !== '' && metadata.namespace !== namespace) {
    return refusal(400, 'the namespace of the provided object does not match the namespace sent on the request');
  }
  const placed = kind.namespaced ? { ...metadata, namespace } : metadata;
  const { version } = context.asked.resource;
  const decoding = { kind: kind.kind, version, type: typeOfKind(kind, version), isCustom: kind.source === 'custom' };
  const decoded = decodedObject({ ...body, metadata: withoutUndefined(placed) }, { ...decoding, fieldValidation, from: 'body' });
  return isRefusal(decoded) ? decoded : { object: decoded.object as KubernetesObject, warnings: decoded.warnings };
}

/** The body as a JSON object. */
export async function readBody({ request, body, asked }: ResourceContext): Promise<JsonObject | Refusal> {
  if (!isJsonType(request.headers['content-type'])) return unreadableBody;
  const text = await body();
  if (text === undefined) return refusal(413, 'Request entity too large: limit is 3145728');
  const expected = `the object provided is unrecognized (must be of type ${asked.storage.kind.kind}): couldn't get version/kind; json parse error`;
  try {
    const value = parseJsonExactly(text);
    return isJsonObject(value) ? value : refusal(400, `${expected}: expected an object`);
  } catch (error) {
    return refusal(400, `${expected}: ${error instanceof Error ? error.message : 'not JSON'}`);
  }
}

/** Built-in kinds may leave out what the path says already; custom resources may not. */
function refuseIdentity({ asked }: ResourceContext, { kind, apiVersion, metadata }: JsonObject): Refusal | undefined {
  const wanted = asked.storage.kind;
  const wantedVersion = apiVersionOf({ group: wanted.group, version: asked.resource.version });
  if (wanted.source === 'custom' && (kind === undefined || apiVersion === undefined)) {
    const missing = kind === undefined ? 'Kind' : 'apiVersion';
    return refusal(400, `the object provided is unrecognized (must be of type ${wanted.kind}): Object '${missing}' is missing`);
  }
  if (apiVersion !== undefined && apiVersion !== wantedVersion) {
    return refusal(400, `the API version in the data (${apiVersion}) does not match the expected API version (${wantedVersion})`);
  }
  if (kind === undefined || kind === wanted.kind) return undefined;
  if (wanted.source !== 'custom')
    return refusal(400, `${kind} in version "${asked.resource.version}" cannot be handled as a ${wanted.kind}`);
  const name = isJsonObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
  const cause = { reason: 'FieldValueInvalid', message: `Invalid value: "${kind}": must be ${wanted.kind}`, field: 'kind' };
  return invalid({ kind: String(kind), group: wanted.group, name }, [cause]);
}

const propagations: readonly Propagation[] = ['Foreground', 'Background', 'Orphan'];

/** What a DELETE asks for, in its body or its query. */
export interface DeleteRequest {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Absent: as the kind has it. */
  readonly propagation: Propagation | undefined;
  readonly isDry: boolean;
}

export async function readDeleteRequest(context: ResourceContext): Promise<DeleteRequest | Refusal> {
  const text = await context.body();
  const body = text === undefined || text.trim() === '' ? {} : await readBody(context);
  if (isRefusal(body)) return body;
  const preconditions = isJsonObject(body.preconditions) ? body.preconditions : {};
  const given = textOf(body.propagationPolicy) ?? context.query.get('propagationPolicy') ?? undefined;
  const propagation = propagations.find((one) => one === given);
  if (given !== undefined && propagation === undefined) {
    const cause = unsupported('propagationPolicy', JSON.stringify(given), [...propagations, 'nil']);
    return invalid({ kind: 'DeleteOptions', group: 'meta.k8s.io', name: '' }, [cause]);
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
