import { redact } from '../../core/redaction.ts';
import { toldFault } from '../copies/copy-reason.ts';
import { diffOf } from '../rendering/diff.ts';
import type { OneWrite } from './write-one.ts';

/** What may be told of objects of a kind: no `managedFields`; of a sensitive one neither values nor what they change to, nor a server's words about them. */
export function createShown(isSensitive: boolean): OneWrite['shown'] {
  return {
    metadataOnly: isSensitive,
    object: (object) => redact(object, { sensitive: isSensitive, live: false }),
    diff: (before, after) => diffOf({ before, after, isSensitive }),
    fault: (fault) => (isSensitive ? toldFault(fault, true) : fault),
  };
}
