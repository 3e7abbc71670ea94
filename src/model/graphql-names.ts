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

/**
 * A GraphQL name for each key of an object, in the order of the keys: the key itself where it is legal and nobody's, else with `_` in place of
 * what is illegal, else (names taken, in `hidden`, or of `Object.prototype`) with as many `_` behind it as are needed. Legal keys choose first.
 */
export function fieldNamesOf(keys: readonly string[], hidden?: ReadonlySet<string>): readonly string[] {
  const free = (name: string) => !objectMembers.has(name) && hidden?.has(name) !== true;
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const legalFirst of [true, false]) {
    for (const key of keys) {
      let name = legalName(key);
      if (names.has(key) || (legalFirst && (name !== key || !free(name)))) continue;
      // Two underscores in front belong to introspection.
      while (!free(name) || taken.has(name)) name += name === '_' ? '0' : '_';
      taken.add(name);
      names.set(key, name);
    }
  }
  return keys.map((key) => names.get(key) ?? key);
}
