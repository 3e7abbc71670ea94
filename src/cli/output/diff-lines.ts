import type { Paint } from './table.ts';

/** The first that fits decides. */
const diffColors = [
  [/^(?:---|\+\+\+)(?: |$)/, 1],
  [/^@@/, 36],
  [/^\+/, 32],
  [/^-/, 31],
] as const;

/** A unified diff, its lines colored by what they say. */
export function diffLines(diff: string, paint: Paint): readonly string[] {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    const color = diffColors.find(([start]) => start.test(line))?.[1];
    return color === undefined ? line : paint(color, line);
  });
}
