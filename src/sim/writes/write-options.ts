import { type ApiRefusal, invalidObject, type StatusCause } from '../kinds/api-status.ts';
import { isTrueParameter } from '../requests/request-target.ts';
import type { ResourceContext } from '../requests/sim-server.ts';

/** Handling of undeclared fields: `Strict` refuses them, `Warn` drops them with a warning, `Ignore` drops them. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** The options of a write. */
export interface WriteRequest {
  readonly isDry: boolean;
  readonly manager: string;
  readonly isForced: boolean;
  readonly fieldValidation: FieldValidation;
}

const validations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];
const optionKinds = { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions' } as const;

/** Parses the options of a create, update or patch, or returns a refusal. An apply must name its field manager. */
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

/** Returns the field manager: the parameter, else the first word of the User-Agent. */
export function managerOf({ query, request }: ResourceContext): string {
  return query.get('fieldManager') ?? (request.headers['user-agent'] ?? 'unknown').split('/')[0] ?? 'unknown';
}

/** True for a dry run. */
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

/** Returns the cause for an unsupported value. */
export function unsupported(field: string, value: string, supported: readonly string[]): StatusCause {
  const message = `Unsupported value: ${value}: supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`;
  return { reason: 'FieldValueNotSupported', message, field };
}
