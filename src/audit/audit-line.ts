import type { Caller } from '../access/access.ts';
import { jsonEscapeOf } from '../core/json/json-escape.ts';
import type { AuditedAction, RefusedLogin } from './audit.ts';

const apiVersion = 'audit.muster.dev/v1alpha1';

/** Returns the line of an action: one JSON object. Line breaks of any kind and invisible characters are escaped. */
export function lineOfAction({ caller, objects, ...action }: AuditedAction, atMs: number): string {
  const { requestId, verb, dryRun = false, force = false, manifestHash, code } = action;
  return lineOf({
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
  return lineOf({
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

/** Characters that end a line for some readers of logs, or that a terminal hides. Some change how a terminal shows the text around them. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Prints a line. Names may come from a request that was refused, so they may contain any character. `JSON.stringify` escapes only the control
 * characters below U+0020.
 */
function lineOf(content: object): string {
  return JSON.stringify(content).replace(invisible, jsonEscapeOf);
}

function head(requestId: string | undefined, atMs: number) {
  return { apiVersion, time: new Date(atMs).toISOString(), requestId };
}

/** In local mode there is one caller, who has no name. */
function userOf({ key, user }: Caller) {
  if (user === undefined) return { username: key, groups: [], issuer: 'local' };
  return { username: user.user, groups: [...user.groups].sort(), uid: user.uid, issuer: user.issuer };
}
