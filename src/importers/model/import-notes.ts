import type { ImportNote } from './import-result.ts';

/** Creates a note: the source system would do something else, or the Propagation says it in another way. */
export function infoNote(code: string, path: string, message: string): ImportNote {
  return { severity: 'INFO', code, message, path };
}

/** Creates a note: the document says something that Muster will not do. */
export function warningNote(code: string, path: string, message: string): ImportNote {
  return { severity: 'WARNING', code, message, path };
}

/** Creates a note: the document was not imported. `INVALID`: its own system would refuse it. */
export function errorNote(code: 'INVALID' | 'SECRET', path: string, message: string): ImportNote {
  return { severity: 'ERROR', code, message, path };
}

/** Creates a note: the document would put the data of a Secret into a Propagation. */
export function secretNote(path: string): ImportNote {
  const message =
    'expected no Secret: every reader of a Propagation could read its data. Create the Secret in one cluster, and propagate it by ref';
  return errorNote('SECRET', path, message);
}
