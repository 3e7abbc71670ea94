import { compareOrderKeys, orderKeyOf } from '../../core/json/json-values.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { numberAt } from '../../core/json-at.ts';

/** The collected status of the copy in one cluster. */
export interface StatusItem {
  readonly clusterName: string;
  /** Absent or null if there is none. */
  readonly status?: JsonObject | null;
}

/** Returns the statuses that exist, in order. */
export function statusesOf(items: readonly StatusItem[]): readonly JsonObject[] {
  return items.map(({ status }) => status).filter(isStatus);
}

function isStatus(status: StatusItem['status']): status is JsonObject {
  return isJsonObject(status);
}

/** Sums a figure. A missing figure counts as 0. */
export function sumOf(statuses: readonly JsonObject[], field: string): number {
  return statuses.reduce((sum, status) => sum + (numberAt(status, field) ?? 0), 0);
}

/** Sorts times, the earliest first. */
export function sortedTimes(times: readonly string[]): readonly string[] {
  return [...times].sort((a, b) => {
    const [x, y] = [orderKeyOf(a, 'DateTime'), orderKeyOf(b, 'DateTime')];
    return x === undefined || y === undefined ? 0 : compareOrderKeys(x, y);
  });
}
