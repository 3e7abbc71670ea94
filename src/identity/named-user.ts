import type { Caller, User } from '../access/access.ts';
import { callerOf } from '../access/caller-of-user.ts';
import { type CallerSession, type CredentialMethod, type Identification, unknownCaller } from './authenticator.ts';

/** A user as a source names it, with the prefixes of that source. */
export interface NamedUser extends Pick<User, 'user' | 'groups' | 'issuer'>, Partial<Pick<User, 'uid' | 'extra'>> {
  readonly method: CredentialMethod;
  readonly expiresAtMs: number | undefined;
  /** Asks the source about the same credential again. Default: the source is not asked again. */
  readonly repeat?: () => Identification | Promise<Identification>;
}

/** The prefix of names that Kubernetes itself gives. */
const systemPrefix = 'system:';

/**
 * Returns the session of a user. A name or a group that begins with `system:` refuses the whole credential, and so does one that is empty or
 * has control characters. `mayBeSystem` lets the name of the user, but no group, begin with `system:`.
 */
export function identified(named: NamedUser, { mayBeSystem = false } = {}): Identification {
  const { user, groups, uid, extra = {}, issuer, method, expiresAtMs, repeat } = named;
  if (!isName(user) || !groups.every(isName)) return unknownCaller(method, 'claims');
  if ((!mayBeSystem && user.startsWith(systemPrefix)) || groups.some((group) => group.startsWith(systemPrefix)))
    return unknownCaller(method, 'name');
  const caller = callerOf({ user, groups, extra, issuer, ...(uid === undefined || uid === '' ? {} : { uid }) });
  return { result: 'known', session: { caller, expiresAtMs, check: repeat && (() => checkAgain(caller, repeat)) } };
}

/** A credential that names another user now, such as one with other groups, no longer counts for streams of the earlier user. */
async function checkAgain({ key }: Caller, repeat: NonNullable<NamedUser['repeat']>): ReturnType<NonNullable<CallerSession['check']>> {
  const again = await repeat();
  return again.result === 'known' && again.session.caller.key !== key ? 'unknown' : again.result;
}

/** Impersonation sends names as headers, which have no control characters. */
function isName(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text) && text.isWellFormed();
}
