import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLiveRegion, cutTo } from '../../../src/cli/output/live-region.ts';
import { createScreen } from '../../support/cli/screen.ts';

const size = { columns: 20, rows: 6 };

function drawn(before = '$ muster watch jobs\n') {
  const screen = createScreen(size);
  screen.write(before);
  return { screen, region: createLiveRegion() };
}

test('draws in place, below text that stays', () => {
  const { screen, region } = drawn();
  screen.write(region.frame(['one', 'two', 'three'], size));
  screen.write(region.frame(['one', 'second'], size));
  expect(screen.lines).toEqual(['$ muster watch jobs', 'one', 'second']);
  expect(screen.isCursorHidden).toBe(true);
  screen.write(region.end());
  screen.write('$');
  expect(screen.lines).toEqual(['$ muster watch jobs', 'one', 'second', '$']);
  expect(screen.isCursorHidden).toBe(false);
});

test('writes only changed lines, inside synchronized output marks', () => {
  const region = createLiveRegion();
  region.frame(['header', 'a 1s', 'b 1s'], size);
  const text = region.frame(['header', 'a 2s', 'b 1s'], size);
  expect(text).toContain('a 2s');
  expect(text).not.toContain('header');
  expect(text).not.toContain('b 1s');
  expect(text.startsWith('\x1b[?2026h') && text.endsWith('\x1b[?2026l')).toBe(true);
});

test('always shows the last of several frames', () => {
  const lines = fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 30 }), { maxLength: 9 });
  fc.assert(
    fc.property(fc.array(fc.oneof(lines, fc.constant('aside' as const)), { minLength: 1, maxLength: 12 }), (steps) => {
      const { screen, region } = drawn('$\n');
      const asides: string[] = [];
      let last: readonly string[] = [];
      for (const [at, step] of steps.entries()) {
        if (step !== 'aside') {
          screen.write(region.frame(step, size));
          last = step;
          continue;
        }
        const { before, after } = region.linesAbove(size);
        screen.write(`${before}warning ${at}\n${after}`);
        asides.push(`warning ${at}`);
      }
      screen.write(region.end());
      const shown = last.slice(0, size.rows).map((line) => cutTo(line, size.columns - 1).trimEnd());
      const isDrawn = steps.some((step) => step !== 'aside');
      expect(screen.lines).toEqual(['$', ...asides, ...(isDrawn ? (shown.length === 0 ? [''] : shown) : []), '']);
      expect(screen.isCursorHidden).toBe(false);
    }),
  );
});

test('redraws all lines if the terminal became narrower and has wrapped them', () => {
  const region = createLiveRegion();
  region.frame(['0123456789abcdef', 'x'], { columns: 20, rows: 6 });
  const text = region.frame(['0123456789abcdef', 'x'], { columns: 10, rows: 6 });
  // The frame has wrapped to three lines: move two up and erase everything below.
  expect(text).toContain('\r\x1b[2A\x1b[J');
  expect(text).toContain('01234567…');
});

test('cuts lines to their width, without counting colors', () => {
  expect(cutTo('abcdef', 6)).toBe('abcdef');
  expect(cutTo('abcdefg', 6)).toBe('abcde…');
  expect(cutTo('\x1b[32mabc\x1b[0mdef', 6)).toBe('\x1b[32mabc\x1b[0mdef');
  expect(cutTo('\x1b[32mabcdefg\x1b[0m', 6)).toBe('\x1b[32mabcde…\x1b[0m');
});

test('cuts wide characters whole', () => {
  expect(cutTo('日本語', 6)).toBe('日本語');
  expect(cutTo('日本語', 5)).toBe('日本…');
  expect(cutTo('日本語x', 6)).toBe('日本…');
  expect(cutTo('\x1b[32m👩‍👩‍👧👩‍👩‍👧\x1b[0m', 3)).toBe('\x1b[32m👩‍👩‍👧…\x1b[0m');
});

test('counts the height of lines with wide characters as the terminal does', () => {
  const region = createLiveRegion();
  region.frame(['日本語日本語', 'x'], { columns: 20, rows: 6 });
  expect(region.frame(['日本語', 'x'], { columns: 10, rows: 6 })).toContain('\r\x1b[2A\x1b[J');
});

test('writes nothing for an end without a frame, or a second end', () => {
  const region = createLiveRegion();
  expect(region.end()).toBe('');
  region.frame(['a'], size);
  expect(region.end()).not.toBe('');
  expect([region.end(), region.linesAbove(size)]).toEqual(['', { before: '', after: '' }]);
});
