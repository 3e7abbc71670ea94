/** A reason why Karmada's admission refuses a policy. `path` is the path of the field in the policy: `spec.placement.spreadConstraints[0]`. */
export interface AdmissionProblem {
  readonly path: string;
  /** The expected value, and the value that the policy has. */
  readonly message: string;
}

/** Returns a list with the problem if `isBroken` is true, else an empty list. */
export function problemIf(isBroken: boolean, path: string, message: string): readonly AdmissionProblem[] {
  return isBroken ? [{ path, message }] : [];
}

/** Checks every item of a list. `check` gets the item, its path, such as `spec.overrideRules[1]`, and its index. */
export function checkEach<Item>(
  items: readonly Item[] | null | undefined,
  path: string,
  check: (item: Item, path: string, index: number) => readonly AdmissionProblem[],
): readonly AdmissionProblem[] {
  return (items ?? []).flatMap((item, index) => check(item, `${path}[${index}]`, index));
}

/** True if the value is neither absent nor null. An empty list or an empty object is present. */
export function isPresent<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

/** Returns a value as text for a message, in quotes and cut after 80 characters. */
export function quoted(value: string | null | undefined): string {
  return JSON.stringify((value ?? '').slice(0, 80));
}
