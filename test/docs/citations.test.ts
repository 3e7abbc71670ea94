import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { pageText, repository } from '../support/documentation.ts';

// A comment may cite a page and its sections, as `docs/internals/mirror.md 3.4`. Both must exist in this repository.

/** A page that a comment names, and the sections after its name, such as `3.4` or `2.2, 8`. */
const citation = /(?<page>[\w./-]*[\w-]+\.md|docs\/[\w./-]+)(?:,? (?<sections>(?:\d+(?:\.\d+)*|[A-DP]\d*)\b(?:, \d+(?:\.\d+)*\b)*))?/g;

const comment = /\/\*[\s\S]*?\*\/|(?:^|[ \t])\/\/.*$/gm;

interface Citation {
  readonly file: string;
  readonly page: string;
  readonly sections: readonly string[];
}

const files = globSync(['src/**/*.ts', 'test/**/*.ts', 'scripts/**/*.ts', 'test/propagate/vectors/own/*.json'], { cwd: repository });
const cited: readonly Citation[] = files.flatMap((file) => {
  const text = readFileSync(path.join(repository, file), 'utf8');
  const comments = file.endsWith('.json') ? [text] : [...text.matchAll(comment)].map(([found]) => found);
  return comments
    .flatMap((found) => [...found.matchAll(citation)])
    .map(({ groups }) => ({ file, page: groups?.page ?? '', sections: groups?.sections?.split(', ') ?? [] }));
});

/** Finds the file of a cited page. The citation may leave out the end of the file name, as in `docs/decisions/0013`. */
function fileOf(page: string): string | undefined {
  if (existsSync(path.join(repository, page))) return page;
  const [found] = globSync(`${page}*.md`, { cwd: repository });
  return page.startsWith('docs/') ? found : undefined;
}

function hasSection(page: string, section: string): boolean {
  const number = section.replaceAll('.', '\\.');
  return new RegExp(`^(?:#+ ${number}\\.? |\\| ${number} \\|)`, 'm').test(pageText(page));
}

test('comments cite pages', () => {
  expect(cited.length).toBeGreaterThanOrEqual(50);
});

test('every page that a comment cites exists', () => {
  expect(cited.filter(({ page }) => fileOf(page) === undefined).map(({ file, page }) => `${file}: ${page}`)).toEqual([]);
});

test('every section that a comment cites exists', () => {
  const missing = cited.flatMap(({ file, page, sections }) => {
    const found = fileOf(page);
    return found === undefined || !found.endsWith('.md')
      ? []
      : sections.filter((section) => !hasSection(found, section)).map((section) => `${file}: ${page} ${section}`);
  });
  expect(missing).toEqual([]);
});

test('every decision has a number of its own', () => {
  const names = globSync('docs/decisions/[0-9]*.md', { cwd: repository }).map((file) => path.basename(file));
  const numbers = names.map((name) => Number(name.slice(0, 4)));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(names.map((_, index) => index + 1));
  for (const [index, name] of names.entries()) expect(pageText(`docs/decisions/${name}`)).toMatch(new RegExp(`^# ${numbers[index]}\\. `));
});
