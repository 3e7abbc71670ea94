/** Whether a figure stays where it is. */
export interface Trend {
  /** In the middle of the second half. */
  readonly median: number;
  /** What it gained over the second half: the median slope between any two samples (Theil–Sen), which no single spike moves. */
  readonly growth: number;
  readonly allowed: number;
  readonly flat: boolean;
}

/** What is borne: this share of the median, or this much, whichever is more. */
export interface Allowance {
  readonly share: number;
  readonly least: number;
}

/** Looks at the second half of the samples; undefined if that is fewer than eight: too few to tell. */
export function trendOf(
  samples: readonly { readonly atMs: number; readonly value: number }[],
  { share, least }: Allowance,
): Trend | undefined {
  const half = samples.slice(Math.floor(samples.length / 2));
  const [first, last] = [half[0], half.at(-1)];
  if (half.length < 8 || first === undefined || last === undefined) return undefined;
  const slopes = half.flatMap((a, index) => half.slice(index + 1).map((b) => (b.value - a.value) / (b.atMs - a.atMs)));
  const growth = median(slopes) * (last.atMs - first.atMs);
  const middle = median(half.map(({ value }) => value));
  const allowed = Math.max(share * middle, least);
  return { median: middle, growth, allowed, flat: growth <= allowed };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [below = Number.NaN, above = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? above : (below + above) / 2;
}
