import { textAt, valueAt } from '../../core/json-at.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import type { PropagationName } from '../../propagate/model/propagations.ts';
import { takenNameProblem } from '../../propagate/model/taken-name.ts';
import type { ImportResult } from '../model/import-result.ts';

/** Adds the error note `NAME_TAKEN` to each imported Propagation that must not replace the existing one of its name. */
export function withTakenNames(result: ImportResult, find: (name: PropagationName) => Propagation | undefined): ImportResult {
  const propagations = result.propagations.map((imported) => {
    const { input, notes } = imported;
    const existing = find({ namespace: textAt(input, 'namespace') ?? '', name: textAt(input, 'name') ?? '' });
    const message = existing && takenNameProblem(existing, valueAt(input, 'source'));
    return message === undefined
      ? imported
      : { ...imported, notes: [...notes, { severity: 'ERROR' as const, code: 'NAME_TAKEN', message }] };
  });
  return { ...result, propagations };
}
