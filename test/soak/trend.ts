/** How a figure developed over a run. */
export interface Trend {
  /** Median of the second half of the samples. */
  readonly median: number;
  /** Growth over the second half, from the median slope between any two samples (Theil–Sen). A single spike does not change it. */
  readonly growth: number;
  readonly allowed: number;
  /** True if the growth is within the allowance. */
  readonly flat: boolean;
}

/** Largest growth that still counts as flat: `share` of the median or `least`, whichever is more. */
export interface Allowance {
  readonly share: number;
  readonly least: number;
}

/** Computes the trend from the second half of the samples. Undefined if that half has fewer than eight. */
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
