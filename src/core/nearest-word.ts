/**
 * Returns the candidate that a misspelled word most likely meant, for "did you mean …?". Undefined if no candidate is close.
 *
 * A candidate is close if its distance is at most two fifths of the word's length. The distance counts edits (insert, delete, replace,
 * swap of neighbors) and ignores case. Of equally close candidates the first one wins.
 */
export function nearestWord(word: string, candidates: Iterable<string>): string | undefined {
  return nearestWordWithEdits(word, candidates)?.word;
}

/**
 * Like `nearestWord`, but also returns the distance in edits. With it, a caller can choose between the results for several lists. Undefined if no
 * candidate is close.
 */
export function nearestWordWithEdits(
  word: string,
  candidates: Iterable<string>,
): { readonly word: string; readonly edits: number } | undefined {
  const wanted = word.toLowerCase();
  const most = Math.max(1, Math.floor(word.length * 0.4));
  let best: string | undefined;
  let bestDistance = most + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best === undefined ? undefined : { word: best, edits: bestDistance };
}

/** Optimal string alignment distance. It keeps three rows of the table. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let distance = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      current.push(distance);
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
