import type { JsonObject } from '../../core/json.ts';
import { type ApiRefusal, apiRefusal, unauthorized } from '../kinds/api-status.ts';
import type { AnswerContext } from './sim-server.ts';

/** A user in the terms of an API server. */
export interface ApiCaller {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: JsonObject;
}

/** The owner of the cluster's token, and a caller without a token. */
const admin: ApiCaller = { username: 'admin', uid: 'admin', groups: ['system:masters', 'system:authenticated'] };
const anonymous: ApiCaller = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

const extraHeader = 'impersonate-extra-';

/** Returns the caller: the owner of the token, or the user whom the owner impersonates. 401 for an unknown token. */
export function apiCallerOf({ server, request }: AnswerContext): ApiCaller | ApiRefusal {
  const { authorization } = request.headers;
  if (authorization === undefined) return anonymous;
  if (authorization !== `Bearer ${server.token}`) return unauthorized;
  const impersonated = impersonatedIn(request.headers);
  if (impersonated === undefined) return admin;
  const { username } = impersonated;
  if (username === '') return apiRefusal(400, `requested ${JSON.stringify(impersonated.groups)} without impersonating a user name`);
  const action = { verb: 'impersonate', group: '', resource: 'users', name: username } as const;
  if (!server.hooks.isForbidden?.(admin.username, action, 'User')) return impersonated;
  const why = `User "${admin.username}" cannot impersonate resource "users" in API group "" at the cluster scope`;
  return { ...apiRefusal(403, `users "${username}" is forbidden: ${why}`), details: { name: username, kind: 'users' } };
}

function impersonatedIn(headers: Readonly<Record<string, string>>): ApiCaller | undefined {
  if (!Object.keys(headers).some((name) => name.startsWith('impersonate-'))) return undefined;
  const uid = headers['impersonate-uid'];
  const extra = Object.entries(headers)
    .filter(([name]) => name.startsWith(extraHeader))
    .map(([name, value]) => [decodeURIComponent(name.slice(extraHeader.length)), listOf(value)] as const);
  return {
    username: headers['impersonate-user'] ?? '',
    ...(uid === undefined ? {} : { uid }),
    groups: [...new Set([...listOf(headers['impersonate-group']), 'system:authenticated'])],
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

/** Splits repeated headers, which Node joins with commas. */
function listOf(header: string | undefined): readonly string[] {
  return header === undefined || header === '' ? [] : header.split(', ');
}
