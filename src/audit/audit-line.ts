import type { Caller } from '../access/access.ts';
import type { AuditedAction, RefusedLogin } from './audit.ts';

const apiVersion = 'audit.muster.dev/v1alpha1';

/** Returns the line of an action: one JSON object without a line break. */
export function lineOfAction({ caller, objects, ...action }: AuditedAction, atMs: number): string {
  const { requestId, verb, dryRun = false, force = false, manifestHash, code } = action;
  return JSON.stringify({
    ...head(requestId, atMs),
    user: userOf(caller),
    verb,
    dryRun,
    force,
    manifestHash,
    code,
    objects: objects.map(({ cluster, apiVersion: version, kind, namespace, name, uid, result, code: fault }) => {
      return { cluster, apiVersion: version, kind, namespace, name, uid, result, code: fault };
    }),
  });
}

/**
 * Returns the line of refused credentials. The user is that of Kubernetes for requests without an accepted credential: a name in a refused
 * token proves nothing.
 *
 * @param count The number of credentials that the line stands for.
 */
export function lineOfLogin({ requestId, method, reason, address }: RefusedLogin, atMs: number, count: number): string {
  return JSON.stringify({
    ...head(requestId, atMs),
    user: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
    verb: 'login',
    dryRun: false,
    force: false,
    code: 'UNAUTHENTICATED',
    method,
    reason,
    address,
    count: count === 1 ? undefined : count,
    objects: [],
  });
}

function head(requestId: string | undefined, atMs: number) {
  return { apiVersion, time: new Date(atMs).toISOString(), requestId };
}

/** In local mode there is one caller, who has no name. */
function userOf({ key, user }: Caller) {
  if (user === undefined) return { username: key, groups: [], issuer: 'local' };
  return { username: user.user, groups: [...user.groups].sort(), uid: user.uid, issuer: user.issuer };
}
