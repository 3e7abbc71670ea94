import { expect, test } from 'vitest';
import { readTraceSettings } from '../../src/config/trace-settings.ts';

const collector = 'http://collector:4318';
const defaults = {
  url: 'http://collector:4318/v1/traces',
  protocol: 'http/protobuf',
  headers: '',
  serviceName: 'muster',
  resource: '',
  sampler: 'parentbased_always_on',
  ratio: 1,
  delayMs: 5_000,
};

test.each([
  ['nothing', {}, undefined],
  ['an empty variable', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
  ['an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: collector }, defaults],
  ['an endpoint with a path', { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector}/otel/` }, { ...defaults, url: `${collector}/otel/v1/traces` }],
  ['an endpoint of traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector}/spans` }, { ...defaults, url: `${collector}/spans` }],
  ['a disabled SDK', { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_SDK_DISABLED: 'True' }, undefined],
  [
    'everything',
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x',
      OTEL_SERVICE_NAME: 'fleet',
      OTEL_RESOURCE_ATTRIBUTES: 'team=shop',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
    {
      ...{ ...defaults, protocol: 'http/json', headers: 'authorization=Bearer%20x', serviceName: 'fleet', resource: 'team=shop' },
      ...{ sampler: 'traceidratio', ratio: 0.25, delayMs: 200 },
    },
  ],
])('reads %s', (_what, environment, expected) => {
  expect(readTraceSettings(undefined, environment)).toEqual(expected);
});

test('the flag wins over the variables', () => {
  const environment = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other/spans' };
  expect(readTraceSettings({ name: '--otlp', value: collector }, environment)).toEqual(defaults);
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT: expected the http or https URL of a collector, got /],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /^OTEL_EXPORTER_OTLP_PROTOCOL: expected http\/protobuf or http\/json, got "grpc"/],
  [{ OTEL_TRACES_SAMPLER: 'xray' }, /^OTEL_TRACES_SAMPLER: expected always_on or .*, got "xray"/],
  [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /^OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got "2"/],
  [{ OTEL_BSP_SCHEDULE_DELAY: 'soon' }, /^OTEL_BSP_SCHEDULE_DELAY: expected a number from 0 to 600000, got "soon"/],
])('refuses %j', (environment, message) => {
  expect(() => readTraceSettings(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: collector, ...environment })).toThrow(message);
});
