import { MusterError } from '../core/errors.ts';
import { describeValue } from '../core/json.ts';

/** The forms in which a collector takes spans. */
const protocols = ['http/protobuf', 'http/json'] as const;

/** The ways to choose which traces are recorded. */
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The collector of traces, and the traces that it gets. */
export interface TraceSettings {
  /** The URL to which spans are sent. */
  readonly url: string;
  readonly protocol: (typeof protocols)[number];
  /** Headers of each request to the collector, as `key=value,…`, with percent-encoded values. */
  readonly headers: string;
  readonly serviceName: string;
  /** Attributes of the service, as `key=value,…`, with percent-encoded values. */
  readonly resource: string;
  readonly sampler: (typeof samplers)[number];
  /** The share of traces to record, from 0 to 1, for the samplers with `ratio` in their name. */
  readonly ratio: number;
  /** Milliseconds between two requests to the collector. */
  readonly delayMs: number;
}

/**
 * Reads the settings of traces from the flag `--otlp` and the variables of OpenTelemetry. The flag wins. Undefined if neither names a collector,
 * or if `OTEL_SDK_DISABLED` is `true`.
 *
 * Source of names and defaults: the specification of OpenTelemetry, pages "Environment Variable Specification" and "OTLP Exporter".
 *
 * @throws {MusterError} `BAD_INPUT` with one line: the flag or variable, with the expected and the actual value.
 */
export function readTraceSettings(
  flag: Setting | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): TraceSettings | undefined {
  const variable = (name: string): Setting | undefined => {
    const value = environment[name]?.trim();
    return value === undefined || value === '' ? undefined : { name, value };
  };
  const ofTraces = (name: string) => variable(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? variable(`OTEL_EXPORTER_OTLP_${name}`);
  if (variable('OTEL_SDK_DISABLED')?.value.toLowerCase() === 'true') return undefined;
  const own = flag === undefined ? variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') : undefined;
  const base = flag ?? variable('OTEL_EXPORTER_OTLP_ENDPOINT');
  const url = own === undefined ? base && urlBelow(base) : urlOf(own).href;
  if (url === undefined) return undefined;
  const argument = variable('OTEL_TRACES_SAMPLER_ARG');
  return {
    url,
    protocol: oneOf(protocols, ofTraces('PROTOCOL')) ?? 'http/protobuf',
    headers: ofTraces('HEADERS')?.value ?? '',
    serviceName: variable('OTEL_SERVICE_NAME')?.value ?? 'muster',
    resource: variable('OTEL_RESOURCE_ATTRIBUTES')?.value ?? '',
    sampler: oneOf(samplers, variable('OTEL_TRACES_SAMPLER')) ?? 'parentbased_always_on',
    ratio: argument === undefined ? 1 : numberBetween(argument, { min: 0, max: 1 }),
    delayMs: numberBetween(variable('OTEL_BSP_SCHEDULE_DELAY') ?? { name: '', value: '5000' }, { min: 0, max: 600_000 }),
  };
}

/** A value with the name of its flag or variable. */
interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Returns the URL for traces below the base URL of a collector. */
function urlBelow(base: Setting): string {
  const url = urlOf(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

function urlOf({ name, value }: Setting): URL {
  const url = URL.parse(value);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new MusterError('BAD_INPUT', `${name}: expected the http or https URL of a collector, got ${describeValue(value)}`);
}

function oneOf<const T extends string>(known: readonly T[], given: Setting | undefined): T | undefined {
  if (given === undefined) return undefined;
  const found = known.find((one) => one === given.value);
  if (found !== undefined) return found;
  throw new MusterError('BAD_INPUT', `${given.name}: expected ${known.join(' or ')}, got ${describeValue(given.value)}`);
}

function numberBetween({ name, value }: Setting, { min, max }: { readonly min: number; readonly max: number }): number {
  const number = Number(value);
  if (number >= min && number <= max) return number;
  throw new MusterError('BAD_INPUT', `${name}: expected a number from ${min} to ${max}, got ${describeValue(value)}`);
}
