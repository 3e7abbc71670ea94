/** Members that every JavaScript object inherits. Under such a name, a resolver or a client would find a function where a value is absent. */
const objectMembers: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Turns a text into a part of a GraphQL name: each illegal character becomes `_`. The result may begin with a digit. */
export function legalPart(text: string): string {
  return text.replace(/[^A-Za-z0-9_]/g, '_');
}

/**
 * Turns a text into a GraphQL name: like `legalPart`, with `_` before a leading digit. Several leading underscores become one, because
 * names that start with two belong to introspection.
 */
export function legalName(text: string): string {
  const legal = legalPart(text).replace(/^_{2,}/, '_');
  return legal === '' || /^\d/.test(legal) ? `_${legal}` : legal;
}

/** Returns the text with an upper-case first letter. */
export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Returns the text with a lower-case start, up to the last capital of a run: `Pod` → `pod`, `CSIDriver` → `csiDriver`, `IPAddress` → `ipAddress`. */
export function uncapitalised(text: string): string {
  return text.replace(/^[A-Z]+(?![a-z])|^[A-Z]+(?=[A-Z][a-z])|^[A-Z]/, (run) => run.toLowerCase());
}

/**
 * True for a key that can be its own name in GraphQL. `hidden` has further names that must not be used, such as those of fields of
 * `Resource`.
 */
export function isFieldName(key: string, hidden?: ReadonlySet<string>): boolean {
  return legalName(key) === key && !objectMembers.has(key) && hidden?.has(key) !== true;
}

/** The names that fields of one object had before. */
interface EarlierFieldNames {
  /** Returns the earlier name of a key, or undefined for a new key. */
  nameOf(key: string): string | undefined;
  /** True if the name belongs to a key that the object does not have now. */
  isOfAbsentKey(name: string): boolean;
}

const noEarlierNames: EarlierFieldNames = { nameOf: () => undefined, isOfAbsentKey: () => false };

/**
 * Returns a GraphQL name for each key of an object, in the order of the keys.
 *
 * - A key keeps its earlier name if that is free.
 * - Otherwise it is its own name if that is legal and free.
 * - Otherwise `_` replaces illegal characters, and further `_` are appended until the name is free.
 *
 * A name is not free if another key has it, if an absent key had it earlier, or if it is in `hidden` or in `Object.prototype`. Keys with an
 * earlier name choose first, then legal keys, then all others.
 */
export function fieldNamesOf(keys: readonly string[], hidden?: ReadonlySet<string>, earlier = noEarlierNames): readonly string[] {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const isFree = (name: string) => isFieldName(name, hidden) && !taken.has(name);
  const give = (key: string, name: string) => {
    taken.add(name);
    names.set(key, name);
  };
  for (const key of keys) {
    const name = earlier.nameOf(key);
    if (name !== undefined && !names.has(key) && isFree(name)) give(key, name);
  }
  const isNew = (name: string) => isFree(name) && !earlier.isOfAbsentKey(name);
  for (const key of keys) if (!names.has(key) && isNew(key)) give(key, key);
  for (const key of keys) {
    let name = legalName(key);
    if (names.has(key)) continue;
    // Two leading underscores belong to introspection.
    while (!isNew(name)) name += name === '_' ? '0' : '_';
    give(key, name);
  }
  return keys.map((key) => names.get(key) ?? key);
}
