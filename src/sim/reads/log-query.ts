import { type ApiRefusal, apiRefusal, invalidObject, type StatusCause } from '../kinds/api-status.ts';
import { isTrueParameter } from '../requests/request-target.ts';

/** The query of a log request: the API server's `PodLogOptions`. */
export interface LogQuery {
  /** Empty if the request names none. */
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** Unix milliseconds, a multiple of 1,000. Earlier lines are left out. Default: no limit. */
  readonly sinceMs?: number;
}

/** Parses the query of a log request. Returns a refusal with 400 for a value that cannot be parsed, or 422 for one that is not allowed. */
export function parseLogQuery(
  query: URLSearchParams,
  { pod, nowMs }: { readonly pod: string; readonly nowMs: number },
): LogQuery | ApiRefusal {
  const numbers = new Map<string, number>();
  for (const name of ['sinceSeconds', 'tailLines', 'limitBytes']) {
    const text = query.get(name);
    if (text === null) continue;
    if (!/^[-+]?\d+$/.test(text)) return apiRefusal(400, `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
    const number = BigInt(text);
    if (BigInt.asIntN(64, number) !== number)
      return apiRefusal(400, `strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
    numbers.set(name, Number(number));
  }
  const sinceTime = query.get('sinceTime') ?? '';
  const sinceTimeMs = readTime(sinceTime);
  if (sinceTime !== '' && sinceTimeMs === undefined) return apiRefusal(400, `parsing time ${JSON.stringify(sinceTime)}: not RFC 3339`);
  const causes = causesOf(numbers, { hasTime: sinceTime !== '' });
  if (causes.length > 0) return invalidObject({ kind: 'PodLogOptions', name: pod }, causes);
  return {
    container: query.get('container') ?? '',
    follow: isTrueParameter(query.get('follow')),
    previous: isTrueParameter(query.get('previous')),
    timestamps: isTrueParameter(query.get('timestamps')),
    ...given('tailLines', numbers.get('tailLines')),
    ...given('limitBytes', numbers.get('limitBytes')),
    ...given('sinceMs', sinceTimeMs ?? sinceOf(numbers.get('sinceSeconds'), nowMs)),
  };
}

/**
 * Parses an RFC 3339 time as Go does, to Unix milliseconds. The fraction of a second is dropped, because the kubelet gets whole seconds.
 * Undefined if the text is invalid.
 */
function readTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const ms = Date.parse(text.replace(/\.\d+/, ''));
  return Number.isNaN(ms) ? undefined : ms;
}

function sinceOf(seconds: number | undefined, nowMs: number): number | undefined {
  return seconds === undefined ? undefined : nowMs - seconds * 1_000;
}

function given<Name extends string>(name: Name, value: number | undefined): { readonly [Key in Name]?: number } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]?: number });
}

const least: Readonly<Record<string, { readonly value: number; readonly text: string }>> = {
  tailLines: { value: 0, text: 'must be greater than or equal to 0' },
  limitBytes: { value: 1, text: 'must be greater than 0' },
};

function causesOf(numbers: ReadonlyMap<string, number>, { hasTime }: { readonly hasTime: boolean }): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [field, { value, text }] of Object.entries(least)) {
    const number = numbers.get(field);
    if (number !== undefined && number < value) causes.push(tooSmall(field, number, text));
  }
  const seconds = numbers.get('sinceSeconds');
  if (seconds !== undefined && hasTime) {
    const message = 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified';
    causes.push({ reason: 'FieldValueForbidden', message, field: '[]' });
  } else if (seconds !== undefined && seconds < 1) causes.push(tooSmall('sinceSeconds', seconds, 'must be greater than 0'));
  return causes;
}

function tooSmall(field: string, value: number, text: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${value}: ${text}`, field };
}
