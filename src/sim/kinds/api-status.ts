import type { SimKind } from './built-in-kinds.ts';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** A refusal of an API server: the code of the response and its `Status`. */
export interface ApiRefusal {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
  /** A token with which the client can list the remaining objects, at the current version. Absent if the refusal has none. */
  readonly continue?: string;
}

/** True for a refusal. */
export function isApiRefusal(value: object): value is ApiRefusal {
  return 'code' in value && 'message' in value;
}

/** Returns the Status object, with members in Go's order. */
export function statusDocument({ code, reason, message, details, continue: token }: ApiRefusal): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: token === undefined ? {} : { continue: token },
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Returns the reason that an API server sends with a status code: `NotFound` for 404. Undefined if the code has no reason. */
export function statusReasonOf(code: number): string | undefined {
  return reasons[code];
}

/** Returns a refusal without details. */
export function apiRefusal(code: number, message: string): ApiRefusal {
  const reason = statusReasonOf(code);
  return { code, message, ...(reason === undefined ? {} : { reason }) };
}

/** Returns a resource as messages name it: `configmaps`, `widgets.example.com`. */
function qualifiedResource({ resource, group }: Pick<SimKind, 'resource' | 'group'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

function detailsOf({ resource, group }: Pick<SimKind, 'resource' | 'group'>, name?: string): NonNullable<ApiRefusal['details']> {
  return { ...(name === undefined ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource };
}

export const noSuchResource: ApiRefusal = { ...apiRefusal(404, 'the server could not find the requested resource'), details: {} };
export const noSuchMethod: ApiRefusal = {
  ...apiRefusal(405, 'the server does not allow this method on the requested resource'),
  details: {},
};
export const unauthorized: ApiRefusal = apiRefusal(401, 'Unauthorized');

export function notFound(kind: Pick<SimKind, 'resource' | 'group'>, name: string): ApiRefusal {
  return { ...apiRefusal(404, `${qualifiedResource(kind)} "${name}" not found`), details: detailsOf(kind, name) };
}

export function alreadyExists(kind: SimKind, name: string): ApiRefusal {
  return {
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualifiedResource(kind)} "${name}" already exists`,
    details: detailsOf(kind, name),
  };
}

export function conflict(kind: SimKind, name: string, why: string): ApiRefusal {
  return {
    ...apiRefusal(409, `Operation cannot be fulfilled on ${qualifiedResource(kind)} "${name}": ${why}`),
    details: detailsOf(kind, name),
  };
}

export const modifiedMessage = 'the object has been modified; please apply your changes to the latest version and try again';

export function forbidden(kind: Pick<SimKind, 'resource' | 'group'>, why: string, name?: string): ApiRefusal {
  const subject = name === undefined ? qualifiedResource(kind) : `${qualifiedResource(kind)} "${name}"`;
  return { ...apiRefusal(403, `${subject} is forbidden: ${why}`), details: detailsOf(kind, name) };
}

/** Returns a 422 for an object. `subject` names a kind (`ConfigMap`, `Widget.example.com`). */
export function invalidObject(
  subject: { readonly kind: string; readonly group?: string; readonly name: string },
  causes: readonly StatusCause[],
): ApiRefusal {
  const { kind, group = '', name } = subject;
  const messages = causes.map(({ field, message }) => `${field}: ${message}`);
  const what = messages.length === 1 ? messages[0] : `[${messages.join(', ')}]`;
  const details = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind, causes };
  return { ...apiRefusal(422, `${group === '' ? kind : `${kind}.${group}`} "${name}" is invalid: ${what}`), details };
}

/** Returns a 422 for the options of a list or watch. */
export function invalidOptions(causes: readonly StatusCause[]): ApiRefusal {
  return invalidObject({ kind: 'ListOptions', group: 'meta.k8s.io', name: '' }, causes);
}

export function tooLarge(version: string, current: string): ApiRefusal {
  return {
    ...apiRefusal(504, `Timeout: Too large resource version: ${version}, current: ${current}`),
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
  };
}

export function tooOld(version: string, oldest: number): ApiRefusal {
  return apiRefusal(410, `too old resource version: ${version} (${oldest})`);
}
