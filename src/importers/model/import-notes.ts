import type { ImportNote } from './import-result.ts';

/** Creates a note of severity INFO: the source system would do something else, or the Propagation expresses the same in another form. */
export function infoNote(code: string, path: string, message: string): ImportNote {
  return { severity: 'INFO', code, message, path };
}

/** Creates a note of severity WARNING: Muster will not do something that the document asks for. */
export function warningNote(code: string, path: string, message: string): ImportNote {
  return { severity: 'WARNING', code, message, path };
}

/**
 * Creates a note of severity ERROR: the document is not imported. `INVALID`: its own system would refuse it, or it makes no valid
 * Propagation.
 */
export function errorNote(code: 'INVALID' | 'SECRET', path: string, message: string): ImportNote {
  return { severity: 'ERROR', code, message, path };
}

/** Creates the error note for a document that would put the data of a Secret into a Propagation. */
export function secretNote(path: string): ImportNote {
  const message =
    'expected no Secret: every reader of a Propagation could read its data. Create the Secret in one cluster, and propagate it by ref';
  return errorNote('SECRET', path, message);
}
