import type { Caller, User } from '../access/access.ts';
import { callerOf } from '../access/caller-of-user.ts';
import { type CallerSession, type CredentialMethod, type Identification, unknownCaller } from './authenticator.ts';

/** A user as an issuer, the hub, a proxy or a certificate names it. Names and groups have the prefixes that the config sets for it. */
export interface NamedUser extends Pick<User, 'user' | 'groups' | 'issuer'>, Partial<Pick<User, 'uid' | 'extra'>> {
  readonly method: CredentialMethod;
  readonly expiresAtMs: number | undefined;
  /** Identifies the same credential again. Default: it is not identified again. */
  readonly repeat?: () => Identification | Promise<Identification>;
}

/** The prefix of names that Kubernetes itself gives. */
const systemPrefix = 'system:';

/**
 * Returns the session of a user. The credential is refused if a name or a group begins with `system:`, is empty, or has control characters.
 * `mayBeSystem` lets the name of the user, but no group, begin with `system:`.
 */
export function identified(named: NamedUser, { mayBeSystem = false } = {}): Identification {
  const { user, groups, uid, extra = {}, issuer, method, expiresAtMs, repeat } = named;
  if (!isName(user) || !groups.every(isName)) return unknownCaller(method, 'claims');
  if ((!mayBeSystem && user.startsWith(systemPrefix)) || groups.some((group) => group.startsWith(systemPrefix)))
    return unknownCaller(method, 'name');
  const caller = callerOf({ user, groups, extra, issuer, ...(uid === undefined || uid === '' ? {} : { uid }) });
  return { result: 'known', session: { caller, expiresAtMs, check: repeat && (() => checkAgain(caller, repeat)) } };
}

/**
 * Checks a credential again. If it now names another user, such as one with other groups, the result is `unknown`: the credential does not
 * count any more for streams of the earlier user.
 */
async function checkAgain({ key }: Caller, repeat: NonNullable<NamedUser['repeat']>): ReturnType<NonNullable<CallerSession['check']>> {
  const again = await repeat();
  return again.result === 'known' && again.session.caller.key !== key ? 'unknown' : again.result;
}

/** True if impersonation can send the name in a header: it is not empty and has no control characters. */
function isName(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text) && text.isWellFormed();
}
