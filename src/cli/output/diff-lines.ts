import type { Paint } from './table.ts';

/** The first matching pattern decides the color. */
const diffColors = [
  [/^(?:---|\+\+\+)(?: |$)/, 1],
  [/^@@/, 36],
  [/^\+/, 32],
  [/^-/, 31],
] as const;

/** Returns the lines of a unified diff, colored by their first characters. */
export function diffLines(diff: string, paint: Paint): readonly string[] {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    const color = diffColors.find(([start]) => start.test(line))?.[1];
    return color === undefined ? line : paint(color, line);
  });
}
