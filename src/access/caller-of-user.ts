import { sha256Of } from '../core/json/canonical-json.ts';
import type { Caller, User } from './access.ts';

/**
 * Returns the caller of a user. Callers have equal keys exactly if user, uid, groups and extra are equal. The order of groups and of extra
 * values does not count. The uid alone is no key, because most OIDC users and users of certificates have none.
 */
export function callerOf(identity: User): Caller {
  const { user, uid, extra } = identity;
  const groups = [...new Set(identity.groups)].sort();
  const sorted = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values].sort()]));
  return { key: sha256Of({ user, ...(uid === undefined ? {} : { uid }), groups, extra: sorted }), user: { ...identity, groups } };
}
