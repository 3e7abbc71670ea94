import { labelsAt } from '../core/json-at.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { registrationMarks } from './joined-objects.ts';
import { isOwn } from './registration-kinds.ts';

/** The life of a token that `muster join` has made, read from the annotations of its Secret on the hub. */
export interface TokenLife {
  /** The name of the Secret in the member to which the token is bound. */
  readonly boundTo: string;
  /** The start of the life in Unix milliseconds. `expiresMs` is its end. */
  readonly issuedMs: number;
  readonly expiresMs: number;
  /** True: the Secret has the annotation `unused`. The leader removes it as soon as it uses the token. */
  readonly isMarkedUnused: boolean;
}

/** Returns the life of the token. Undefined for a Secret that `muster join` has not made, or whose annotations are damaged. */
export function tokenLifeOf(secret: KubernetesObject | undefined): TokenLife | undefined {
  if (!isOwn(secret)) return undefined;
  const annotations = labelsAt(secret, 'metadata', 'annotations');
  const boundTo = annotations[registrationMarks.boundTo] ?? '';
  const issuedMs = Date.parse(annotations[registrationMarks.issued] ?? '');
  const expiresMs = Date.parse(annotations[registrationMarks.expires] ?? '');
  if (boundTo === '' || !(expiresMs > issuedMs)) return undefined;
  return { boundTo, issuedMs, expiresMs, isMarkedUnused: annotations[registrationMarks.unused] !== undefined };
}

/** A token is renewed at least this long before its end, even if more than two thirds of its life are then left. */
const minLeftMs = 20 * 60_000;

/** Returns the time in Unix milliseconds from which a token is due for renewal. */
export function renewalMsOf({ issuedMs, expiresMs }: Pick<TokenLife, 'issuedMs' | 'expiresMs'>): number {
  return expiresMs - Math.max((expiresMs - issuedMs) / 3, minLeftMs);
}
