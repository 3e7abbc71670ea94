import { type ApiRefusal, invalidObject, type StatusCause } from '../kinds/api-status.ts';
import { isTrueParameter } from '../requests/request-target.ts';
import type { ResourceContext } from '../requests/sim-server.ts';

/** What to do with fields that no schema names: refuse them, drop them and say so, or drop them. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** How something is to be written. */
export interface WriteRequest {
  readonly isDry: boolean;
  readonly manager: string;
  readonly isForced: boolean;
  readonly fieldValidation: FieldValidation;
}

const validations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];
const optionKinds = { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions' } as const;

/** The options of a creation, an update or a patch, or why they are none. Who applies must say who he is. */
export function readWriteRequest(context: ResourceContext, patch?: 'apply' | 'json' | 'merge'): WriteRequest | ApiRefusal {
  const { query, target } = context;
  const { verb } = target.resource;
  const causes = causesOf(query, { isPatch: verb === 'patch', isApply: patch === 'apply' });
  if (causes.length > 0) {
    const kind = optionKinds[verb === 'patch' || verb === 'update' ? verb : 'create'];
    return invalidObject({ kind, group: 'meta.k8s.io', name: '' }, causes);
  }
  const validation = query.get('fieldValidation');
  return {
    isDry: isDry(context),
    manager: managerOf(context),
    isForced: isTrueParameter(query.get('force')),
    fieldValidation: validation === 'Strict' || validation === 'Ignore' ? validation : 'Warn',
  };
}

/** The field manager: as target, else the first word of the User-Agent. */
export function managerOf({ query, request }: ResourceContext): string {
  return query.get('fieldManager') ?? (request.headers['user-agent'] ?? 'unknown').split('/')[0] ?? 'unknown';
}

/** True if nothing of the request is to be kept. */
export function isDry({ query }: ResourceContext): boolean {
  return query.get('dryRun') === 'All';
}

function causesOf(query: URLSearchParams, { isPatch, isApply }: { readonly isPatch: boolean; readonly isApply: boolean }): StatusCause[] {
  const causes: StatusCause[] = [];
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  if (isApply && (query.get('fieldManager') ?? '') === '') {
    causes.push({ reason: 'FieldValueRequired', message: 'Required value: is required for apply patch', field: 'fieldManager' });
  }
  if (isPatch && !isApply && query.has('force')) {
    causes.push({ reason: 'FieldValueForbidden', message: 'Forbidden: may not be specified for non-apply patch', field: 'force' });
  }
  if (dryRun.some((value) => value !== 'All')) {
    causes.push(unsupported('dryRun', JSON.stringify(dryRun), ['All']));
  }
  const validation = query.get('fieldValidation') ?? '';
  if (!validations.includes(validation)) causes.push(unsupported('fieldValidation', JSON.stringify(validation), validations));
  return causes;
}

/** The cause of a value that is none of those there are. */
export function unsupported(field: string, value: string, supported: readonly string[]): StatusCause {
  const message = `Unsupported value: ${value}: supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`;
  return { reason: 'FieldValueNotSupported', message, field };
}
