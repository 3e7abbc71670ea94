import { readFileSync } from 'node:fs';
import { buildSchema, findBreakingChanges, lexicographicSortSchema } from 'graphql';
import { expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/graph.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

// What a client could ask for at the last release, it can ask for now (docs/decisions/0013).

const textOf = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const released = buildSchema(textOf('schema/released.graphql'));

/** What broke between two schemas and is not told under "Unreleased", in an entry that begins with "**Breaking**", in the same words. */
function untold(after: Parameters<typeof findBreakingChanges>[1], changelog: string): readonly string[] {
  const [, unreleased = ''] = changelog.split(/^## /m);
  const told = unreleased.split(/^- /m).filter((entry) => entry.startsWith('**Breaking**'));
  const words = told.join(' ').replaceAll(/\s+/g, ' ');
  return findBreakingChanges(released, after)
    .map(({ description }) => description)
    .filter((description) => !words.includes(description));
}

test('nothing that was released is gone or another, but for what the changelog tells', () => {
  expect(untold(lexicographicSortSchema(buildGraph(loadBaseline())), textOf('CHANGELOG.md'))).toEqual([]);
});

test('the test finds what it looks for', () => {
  const bare = buildGraph({ kinds: new Map(), types: new Map() });
  const missing = untold(bare, '# Changelog\n\n## Unreleased\n\n- Nothing.\n');
  expect(missing).toContain('Field Query.pods was removed.');
  const told = (where: string) =>
    untold(bare, `# Changelog\n\n${where}\n- **Breaking**: Field\n  Query.pods was removed.\n\n## 0.0.9\n\n- Nothing.\n`);
  expect(missing.length - told('## Unreleased').length).toBe(1);
  expect(told('## Unreleased\n\n## 0.1.0')).toEqual(missing);
});

test('the released schema is kept without descriptions, as it was printed', () => {
  expect(textOf('schema/released.graphql')).not.toContain('"""');
});
