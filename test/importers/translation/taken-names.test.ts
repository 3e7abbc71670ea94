import { expect, test } from 'vitest';
import { withTakenNames } from '../../../src/importers/translation/taken-names.ts';
import type { Propagation } from '../../../src/propagate/model/propagation.ts';

test('an imported Propagation whose name another one has gets an error note', () => {
  const source = { system: 'Kubefed', cluster: 'one', objects: [], notes: [] };
  const existing = { metadata: { namespace: 'shop', name: 'web' }, document: { template: [] } } as unknown as Propagation;
  const taken = { system: 'Kubefed', input: { namespace: 'shop', name: 'web', source }, documents: [], notes: [] } as const;
  const free = { ...taken, input: { ...taken.input, name: 'api' } };
  const result = withTakenNames(
    { propagations: [taken, free], unread: [], notes: [], faults: [] },
    {
      find: ({ name }) => (name === 'web' ? existing : undefined),
      keptFrom: undefined,
    },
  );
  expect(result.propagations.map(({ notes }) => notes.map(({ code }) => code))).toEqual([['NAME_TAKEN'], []]);
});
