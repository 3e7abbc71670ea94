/** Members of every JavaScript object: a resolver or a client that looks one up finds a function where a value is absent. */
const objectMembers: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** The text as a part of a GraphQL name: what is illegal becomes `_`, one for each character. May begin with a digit. */
export function legalPart(text: string): string {
  return text.replace(/[^A-Za-z0-9_]/g, '_');
}

/** The text as a GraphQL name: as `legalPart`, with `_` before a digit; names with two underscores in front belong to introspection. */
export function legalName(text: string): string {
  const legal = legalPart(text).replace(/^_{2,}/, '_');
  return legal === '' || /^\d/.test(legal) ? `_${legal}` : legal;
}

/** With a capital in front. */
export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** In lower case from the front up to the last capital of a run: `Pod` → `pod`, `CSIDriver` → `csiDriver`, `IPAddress` → `ipAddress`. */
export function uncapitalised(text: string): string {
  return text.replace(/^[A-Z]+(?![a-z])|^[A-Z]+(?=[A-Z][a-z])|^[A-Z]/, (run) => run.toLowerCase());
}

/** True for a key that may be its own name in GraphQL. */
export function isFieldName(key: string, hidden?: ReadonlySet<string>): boolean {
  return legalName(key) === key && !objectMembers.has(key) && hidden?.has(key) !== true;
}

/** Names that fields of one object were given before. */
interface EarlierFieldNames {
  /** Of a key. */
  nameOf(key: string): string | undefined;
  /** True if a key has the name that is no key of the object now. */
  isOfAbsentKey(name: string): boolean;
}

const noEarlierNames: EarlierFieldNames = { nameOf: () => undefined, isOfAbsentKey: () => false };

/**
 * A GraphQL name for each key of an object, in the order of the keys. A key has its earlier name if that is free. Otherwise it is its own name
 * if it is legal and free. Otherwise `_` replaces what is illegal, and as many `_` follow as make the name free: of other keys, also of absent ones that
 * had it earlier, of `hidden`, and of `Object.prototype`. Legal keys choose first.
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
    // Two underscores in front belong to introspection.
    while (!isNew(name)) name += name === '_' ? '0' : '_';
    give(key, name);
  }
  return keys.map((key) => names.get(key) ?? key);
}
