import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const repository = path.join(import.meta.dirname, '../..');

/** A fenced block of a page. */
export interface Block {
  /** The path of its page, from the root of the repository. */
  readonly page: string;
  /** The line of its first fence, from 1. */
  readonly line: number;
  /** The word after the first fence, such as `graphql`. Empty if there is none. */
  readonly language: string;
  readonly text: string;
}

/** A command after `$ ` in a `console` block, with the lines that the page shows of its output. */
export interface ShownCommand {
  readonly page: string;
  readonly command: string;
  readonly printed: readonly string[];
}

/** The pages for users. Tests run their blocks. */
export const userPages: readonly string[] = ['README.md', ...found('docs/guide/*.md')];

/** All pages of the project that are written in Markdown. */
export const allPages: readonly string[] = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...found('docs/**/*.md')];

function found(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: repository })
    .map((file) => file.split(path.sep).join('/'))
    .toSorted();
}

export function pageText(page: string): string {
  return readFileSync(path.join(repository, page), 'utf8');
}

/** The fenced blocks of these pages, in order. The indentation of blocks in lists is removed. */
export function blocksOf(pages: readonly string[] = userPages): readonly Block[] {
  return pages.flatMap((page) => {
    const text = pageText(page);
    return [...text.matchAll(/^(?<indent> *)```(?<language>\w*)\n(?<body>[\s\S]*?)^\k<indent>```$/gm)].map(({ index, groups }) => {
      const { indent = '', language = '', body = '' } = groups ?? {};
      return { page, line: text.slice(0, index).split('\n').length, language, text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), '') };
    });
  });
}

/** The commands of `sh` blocks, one per line unless a line continues another. Comments at the end are removed. */
export function commandsOf(blocks: readonly Block[]): readonly { readonly page: string; readonly command: string }[] {
  return blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ page, text }) =>
      text
        .trimEnd()
        .split(/(?<!\\|\bdo|;)\n(?! {2}|done)/)
        .map((line) => ({ page, command: line.replace(/ {2,}# .*$/, '') })),
    );
}

/** The sessions of `console` blocks. */
export function sessionsOf(blocks: readonly Block[]): readonly ShownCommand[] {
  return blocks
    .filter(({ language }) => language === 'console')
    .flatMap(({ page, text }) =>
      [...text.matchAll(/^\$ (?<command>.+)\n(?<printed>(?:(?!\$ ).+\n|\n)*)/gm)].map(
        ({ groups: { command = '', printed = '' } = {} }) => ({
          page,
          command,
          printed: printed
            .split('\n')
            .map((line) => line.trim())
            .filter((line) => line !== ''),
        }),
      ),
    );
}

/** The texts of all table cells of a page that are in the last column and contain one piece of code only. */
export function codeCells(page: string): readonly string[] {
  return [...pageText(page).matchAll(/^\|.*\| `([^`]+)` \|$/gm)].map(([, code = '']) => code);
}
