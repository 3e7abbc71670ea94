import { ExportResultCode, parseKeyPairsIntoRecord } from '@opentelemetry/core';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../config/trace-settings.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';

interface ExportOptions {
  readonly settings: TraceSettings;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

/** The shortest time between two warnings about a collector that takes no spans. */
const warningEveryMs = 60_000;

/** Creates the exporter that sends spans to the collector. If sending fails, the spans are lost, and the log warns at most once a minute. */
export async function exporterFor({ settings, clock, log }: ExportOptions): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    settings.protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const exporter = new OTLPTraceExporter({ url: settings.url, headers: parseKeyPairsIntoRecord(settings.headers) });
  let warnedMs = Number.NEGATIVE_INFINITY;
  return {
    export: (spans, report) =>
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.FAILED && clock.monotonic() - warnedMs >= warningEveryMs) {
          warnedMs = clock.monotonic();
          log.warn({ spans: spans.length }, 'the collector of traces takes no spans: they are lost');
        }
        report(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}

export function samplerFor({ sampler, ratio }: TraceSettings): Sampler {
  if (sampler.startsWith('parentbased_')) return new ParentBasedSampler({ root: rootSampler(sampler.slice(12), ratio) });
  return rootSampler(sampler, ratio);
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === 'traceidratio') return new TraceIdRatioBasedSampler(ratio);
  return name === 'always_off' ? new AlwaysOffSampler() : new AlwaysOnSampler();
}
