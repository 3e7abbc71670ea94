import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { buildSchema, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { parseConfigFile } from '../../src/config/config-file.ts';
import { limitRules } from '../../src/graph/context/limits.ts';
import { allPages, blocksOf, pageText, repository, userPages } from '../support/documentation.ts';

const schema = buildSchema(pageText('schema/muster.graphql'));
const blocks = blocksOf();

const exists = (file: string) => existsSync(path.join(repository, file));

/** Returns the anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (page: string) => [...pageText(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

test('the README has at most 200 lines', () => {
  expect(pageText('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(200);
});

test.each(userPages)('every block of %s has a language that a test knows', (page) => {
  const known = ['graphql', 'console', 'sh', 'js', 'yaml', 'json'];
  expect(blocksOf([page]).filter(({ language }) => !known.includes(language))).toEqual([]);
  expect(blocksOf([page]).length).toBe((pageText(page).match(/^ *```/gm)?.length ?? 0) / 2);
  // Tests find only fenced code blocks, so indented code blocks are forbidden.
  expect(pageText(page).replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '')).not.toMatch(/\n\n {4}\S/);
});

test('every JSON block is JSON', () => {
  const blocks = blocksOf().filter(({ language }) => language === 'json');
  for (const { text } of blocks) expect(() => JSON.parse(text)).not.toThrow();
});

describe('every link leads somewhere:', () => {
  test.each(allPages)('%s', (page) => {
    const links = [...pageText(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? page : path.posix.join(path.posix.dirname(page), file);
      return !exists(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

test.each(allPages.filter((page) => page !== 'CHANGELOG.md'))('every file that %s names exists', (page) => {
  const named = [...pageText(page).matchAll(/`((?:src|test|schema|deploy|docs|scripts)\/[\w./-]*\w)`/g)].map(([, file = '']) => file);
  expect(named.filter((file) => !exists(file))).toEqual([]);
});

test('the query page links every example', () => {
  const files = readdirSync(path.join(repository, 'schema/examples')).filter((name) => name.endsWith('.graphql'));
  const named = [...pageText('docs/guide/query.md').matchAll(/\(\.\.\/\.\.\/schema\/examples\/([\w-]+\.graphql)\)/g)].map(
    ([, name]) => name,
  );
  expect(named.toSorted()).toEqual(files.toSorted());
});

test.each(blocks.filter(({ language }) => language === 'graphql'))('the document of $page, line $line, is valid', ({ text }) => {
  expect(validate(schema, parse(text), [...limitRules, ...specifiedRules])).toEqual([]);
});

const isConfig = ({ text }: { readonly text: string }) => text.startsWith('apiVersion: config.muster.dev/');

test('every YAML block that is no config file is a part of an example', () => {
  const examples = readdirSync(path.join(repository, 'deploy/examples')).filter((name) => name.endsWith('.yaml'));
  const texts = examples.map((name) => pageText(`deploy/examples/${name}`));
  const unknown = blocks.filter(
    (block) => block.language === 'yaml' && !isConfig(block) && !texts.some((text) => text.includes(block.text)),
  );
  expect(unknown).toEqual([]);
});

test.each(blocks.filter((block) => block.language === 'yaml' && isConfig(block)))(
  'the config file of $page, line $line, is valid',
  async ({ page, text }) => {
    expect(await parseConfigFile(text, page)).toBeDefined();
  },
);

test('a document with an unknown field is invalid', () => {
  expect(validate(schema, parse('{ pods { colour } }'), [...specifiedRules])).toHaveLength(1);
});
