import { readFileSync } from 'node:fs';
import { buildSchema, findBreakingChanges, type GraphQLSchema, lexicographicSortSchema } from 'graphql';
import { expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/graph.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

// The schema must answer every document that the last release answered (docs/decisions/0013).

const textOf = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const released = buildSchema(textOf('schema/released.graphql'));

/**
 * Returns the breaking changes between two schemas that the changelog does not list. Under "Unreleased", an entry that begins with
 * "**Breaking**:" must have a sentence with the same words.
 */
function untold(before: GraphQLSchema, after: GraphQLSchema, changelog: string): readonly string[] {
  const [, unreleased = ''] = changelog.split(/^## /m);
  const entries = unreleased.split(/^- /m).map((entry) => entry.replaceAll(/\s+/g, ' ').trim());
  const told = new Set(entries.flatMap((entry) => /^\*\*Breaking\*\*: (.*)/.exec(entry)?.[1]?.split(/(?<=\.) /) ?? []));
  return findBreakingChanges(before, after)
    .map(({ description }) => description)
    .filter((description) => !told.has(description));
}

test('no released type or field is missing or changed unless the changelog says so', () => {
  expect(untold(released, lexicographicSortSchema(buildGraph(loadBaseline())), textOf('CHANGELOG.md'))).toEqual([]);
});

test('the test finds breaking changes', () => {
  const missing = untold(released, buildGraph({ kinds: new Map(), types: new Map() }), '# Changelog\n\n## Unreleased\n\n- Nothing.\n');
  expect(missing).toContain('Field Query.pods was removed.');
});

const before = buildSchema('type Query { a: Int } type Pod { x: Int } type EphemeralPod { x: Int }');
const after = buildSchema('type Query { a: Int }');
const [pod, ephemeralPod] = ['Pod was removed.', 'EphemeralPod was removed.'];

test.each<[string, readonly string[]]>([
  ['## Unreleased\n\n- Nothing.', [pod, ephemeralPod]],
  [`## Unreleased\n\n### Changed\n\n- **Breaking**: Pod was\n  removed.\n- **Breaking**: ${ephemeralPod} Nobody had it.`, []],
  [`## Unreleased\n\n- **Breaking**: ${ephemeralPod} ${pod}\n\n## 0.1.0`, []],
  [`## Unreleased\n\n- **Breaking**: ${ephemeralPod}`, [pod]],
  [`## Unreleased\n\n- **Breaking**: ${pod.slice(0, -1)}, or not.`, [pod, ephemeralPod]],
  [`## Unreleased\n\n- ${pod} **Breaking**: ${ephemeralPod}`, [pod, ephemeralPod]],
  [`## Unreleased\n\n## 0.1.0\n\n- **Breaking**: ${pod}`, [pod, ephemeralPod]],
])('a break counts as described by the changelog %j only in a whole sentence', (changelog, left) => {
  expect(untold(before, after, `# Changelog\n\n${changelog}\n`)).toEqual(left);
});

test('the released schema is kept without descriptions, as it was printed', () => {
  expect(textOf('schema/released.graphql')).not.toContain('"""');
});
