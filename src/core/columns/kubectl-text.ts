const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/**
 * How to print durations of less than `below` seconds: in the unit `unit`, followed by the remainder in the unit `finer`. Without `finer`, the
 * remainder is not shown. All numbers are seconds. Longer durations have coarser units, as in kubectl.
 */
const steps: readonly { readonly below: number; readonly unit: number; readonly finer?: number }[] = [
  { below: 2 * minute, unit: 1 },
  { below: 10 * minute, unit: minute, finer: 1 },
  { below: 3 * hour, unit: minute },
  { below: 8 * hour, unit: hour, finer: minute },
  { below: 2 * day, unit: hour },
  { below: 8 * day, unit: day, finer: hour },
  { below: 2 * year, unit: day },
  { below: 8 * year, unit: year, finer: day },
  { below: Number.POSITIVE_INFINITY, unit: year },
];

const names: ReadonlyMap<number, string> = new Map([
  [1, 's'],
  [minute, 'm'],
  [hour, 'h'],
  [day, 'd'],
  [year, 'y'],
]);

/**
 * Returns a duration as kubectl writes it: `59s`, `3m5s`, `2d1h`, `3y`. Up to 1 s in the future counts as `0s`, because clocks differ.
 * Anything later is `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (Number.isNaN(seconds) || seconds < -1) return '<invalid>';
  if (seconds <= 0) return '0s';
  const { unit, finer } = steps.find(({ below }) => seconds < below) ?? { unit: year };
  const coarse = `${Math.floor(seconds / unit)}${names.get(unit)}`;
  const rest = finer === undefined ? 0 : Math.floor((seconds % unit) / finer);
  return finer === undefined || rest === 0 ? coarse : `${coarse}${rest}${names.get(finer)}`;
}

/** Returns the time from `time` to `nowMs`. `<unknown>` if there is no time. */
export function ageText(time: string | null | undefined, nowMs: number): string {
  return time === undefined || time === null ? '<unknown>' : humanDuration(nowMs - Date.parse(time));
}

/** Returns `FailureTarget` for `FAILURE_TARGET`, as kubectl writes phases. */
export function phaseText(phase: string): string {
  return phase
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
