import type { z } from 'zod';
import { checkedSchema, listSchema, structureSchema } from '../core/json/documents.ts';
import { anyJson, describedEnum, graphqlHints, pointer } from '../core/json/field-definitions.ts';

/** The maximum number of operations of one patch. */
export const maxPatchOperations = 10_000;

const patchOperation = checkedSchema(
  structureSchema({
    op: describedEnum('JsonPatchOp', 'An operation of a JSON patch (RFC 6902).', {
      add: 'Sets the value at `path`, or inserts it in a list.',
      remove: 'Removes the value at `path`, which must exist.',
      replace: 'Replaces the value at `path`, which must exist.',
      move: 'Moves the value at `from` to `path`. The value must exist.',
      copy: 'Copies the value at `from` to `path`. The value must exist.',
      test: 'Refuses the whole patch unless the value at `path` equals `value`.',
    })
      .describe('The type of the operation.')
      .register(graphqlHints, { isSpelledSame: true }),
    path: pointer.describe('A JSON pointer (RFC 6901), such as `/spec/replicas`.'),
    from: pointer.exactOptional().describe('A JSON pointer to the source. Only with move and copy.'),
    value: anyJson.exactOptional().describe('The value for add, replace and test. Default: null.'),
  })
    .register(graphqlHints, { name: 'JsonPatchInput' })
    .describe('One operation of a JSON patch (RFC 6902).'),
  ({ op, from }, report) => {
    const needsFrom = op === 'move' || op === 'copy';
    if (needsFrom !== (from !== undefined)) report(needsFrom ? `is required with ${op}` : `expected none with ${op}`, 'from');
  },
);

/** A JSON patch (RFC 6902). Checks everything that does not depend on the patched document. */
export const patchOperations = listSchema(patchOperation, { max: maxPatchOperations });

/** One operation of RFC 6902. An absent `value` counts as null for operations that need one. */
export type JsonPatchOperation = z.output<typeof patchOperations>[number];
