import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/documentation.ts';

// Comments and descriptions have a subject, and name it by its term. The reader has seen neither the code below nor the file before.

/** Openings without a subject: the reader must find in the code what the sentence is about. */
const opening = /^(?:what|of|that|those|one (?:that|who|of)|it|who|whose|told|asked|said|is|nothing|nobody|somebody|all of|none)\b/i;

/** Words that stand for a person or a thing which has a name. */
const indefinite =
  /\b(?:such an? one|such as are|whoever|whomever|nobody|somebody|anybody|none of it|all of it|the rest of it|be it|but for|as yet|in visibility|is told|are told|told of|what (?:stands|stood|nobody|somebody)|who (?:asks|asked|leads)|how far it)\b/i;

interface Passage {
  readonly place: string;
  readonly text: string;
}

const code = globSync(['src/**/*.ts', 'test/**/*.ts', 'scripts/*.ts'], { cwd: repository }).flatMap((file) =>
  passagesIn(file, /\/\*\*?([\s\S]*?)\*\/|((?:^[ \t]*\/\/.*\n)+)/gm),
);
const descriptions = passagesIn('schema/muster.graphql', /"""([\s\S]*?)"""/g);

test('comments and descriptions are found', () => {
  expect(code.length).toBeGreaterThan(1000);
  expect(descriptions.length).toBeGreaterThan(1000);
});

test.each([
  ['comment', code],
  ['description of the schema', descriptions],
] as const)('every %s begins with its subject or a verb', (_kind, passages) => {
  expect(passages.filter(({ text }) => opening.test(text)).map(({ place, text }) => `${place} ${text.slice(0, 80)}`)).toEqual([]);
});

test.each([
  ['comment', code],
  ['description of the schema', descriptions],
] as const)('no %s has an indefinite word in place of a name', (_kind, passages) => {
  const found = passages.flatMap(({ place, text }) => {
    const word = indefinite.exec(text.replace(/`[^`]*`/g, ''))?.[0];
    return word === undefined ? [] : [`${place} ${word}`];
  });
  expect(found).toEqual([]);
});

/** Comments of three words or more, without their marks. Tags such as `@param` begin a passage of their own in no case. */
function passagesIn(file: string, pattern: RegExp): readonly Passage[] {
  const source = readFileSync(path.join(repository, file), 'utf8');
  return [...source.matchAll(pattern)]
    .map((match) => ({ index: match.index, text: (match[1] ?? match[2] ?? '').replace(/^[ \t]*(?:\*|\/\/) ?/gm, '').trim() }))
    .filter(({ text }) => text.split(/\s+/).length >= 3)
    .map(({ index, text }) => ({ place: `${file}:${source.slice(0, index).split('\n').length}`, text }));
}
