import { blocksOf } from './documentation.ts';

/** Replaces the parts of an output that differ between runs: widths of columns, ages, free room, digests and generated names. */
export function comparableText(text: string): string {
  return text
    .replaceAll(/ +/g, ' ')
    .replaceAll(/(?<=\s)(?:\d+[smhdy])+$/gm, 'AGE')
    .replaceAll(/\d{3} Pods \S+ CPU \S+/g, 'FREE')
    .replaceAll(/[0-9a-f]{64}/g, 'DIGEST')
    .replaceAll(/-[bcdf-hj-np-tv-z2-9]{10}(?:-\w{5})?\b/g, '-GENERATED');
}

/**
 * Returns the shown lines that each run prints, in the form of `comparableText`. The progress lines of a command depend on time. Its first
 * and last line do not.
 */
export function certainLines(command: string, printed: readonly string[]): readonly string[] {
  const lines = printed.filter((line) => line !== '…').map(comparableText);
  return /--wait|tree/.test(command) ? [...new Set([...lines.slice(0, 1), ...lines.slice(-1)])] : lines;
}

/** The page about moving workloads. The commands after the line of its hook need a gateway with the config file of this line. */
export function sectionsOfMove(): { readonly page: string; readonly hookLine: number } {
  const page = 'docs/guide/move.md';
  const config = blocksOf([page]).find(({ language, text }) => language === 'yaml' && text.includes('hooks:'));
  if (config === undefined) throw new Error(`${page} shows no config file with a hook`);
  return { page, hookLine: config.line };
}
