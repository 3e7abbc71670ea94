import { signal } from '@preact/signals';

const storageKey = 'muster.token';

/** The bearer token of this tab. It is kept until the tab is closed, and is never in the URL. Undefined: requests have no token. */
export const token = signal<string | undefined>(sessionStorage.getItem(storageKey) ?? undefined);

/** `unneeded`: the pages are shown. `needed`: the page asks for a token. `wrong`: the page asks again, because the gateway refused the last token. */
export const signIn = signal<'unneeded' | 'needed' | 'wrong'>('unneeded');

/** Keeps a token for all later requests, and shows the pages again. */
export function keepToken(text: string): void {
  sessionStorage.setItem(storageKey, text);
  token.value = text;
  signIn.value = 'unneeded';
}

/**
 * Forgets the token, and asks for another one. Call this when the gateway refused a request because of its credentials.
 *
 * @param refused The token of that request. Undefined if it had none.
 */
export function refuseToken(refused: string | undefined): void {
  // This answer is late: the user has signed in with another token since.
  if (refused !== token.value) return;
  // After a token was refused, the page may send further requests, without a token. Their refusals do not change `wrong` to `needed`.
  if (refused !== undefined) signIn.value = 'wrong';
  else if (signIn.value === 'unneeded') signIn.value = 'needed';
  sessionStorage.removeItem(storageKey);
  token.value = undefined;
}

/** Forgets the token at the wish of the user. */
export function signOut(): void {
  sessionStorage.removeItem(storageKey);
  token.value = undefined;
  signIn.value = 'needed';
}
