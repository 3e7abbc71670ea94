import type { Relations } from '../../../src/load/relations/relations.ts';

/** Relations for operations that follow none. A call throws. */
export const noRelations: Relations = {
  one: () => {
    throw new Error('expected no relation to be followed');
  },
  many: () => {
    throw new Error('expected no relation to be followed');
  },
};
