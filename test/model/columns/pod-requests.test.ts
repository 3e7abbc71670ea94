import { describe, expect, test } from 'vitest';
import { parseJsonExactly } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { podRequestsOf } from '../../../src/model/columns/pod-requests.ts';
import { heavyOverhead, requestingPods } from './pods-that-request.ts';

test.each(requestingPods.map((pod) => [pod.name, pod] as const))(
  'requests as the scheduler counts them: %s',
  (name, { spec, status = {}, heavy, requests }) => {
    const overhead = heavy === true ? { overhead: heavyOverhead } : {};
    expect(podRequestsOf({ metadata: { name }, spec: { ...spec, ...overhead }, status })).toEqual(requests);
  },
);

describe('whatever an object holds', () => {
  const requestsOf = (spec: string, status = '{}') =>
    podRequestsOf(parseJsonExactly(`{"metadata":{"name":"strange"},"spec":${spec},"status":${status}}`) as KubernetesObject);

  test.each([
    ['no spec', 'null', {}],
    ['no containers', '{"containers":null,"initContainers":null,"overhead":null,"resources":null}', {}],
    ['containers that are none', '{"containers":[null,7,"x",[]],"initContainers":{"name":"x"}}', {}],
    ['amounts that are none', '{"containers":[{"resources":{"requests":{"cpu":"much","memory":null,"pods":{},"a":true}}}]}', {}],
    [
      'numbers',
      '{"containers":[{"resources":{"requests":{"cpu":2,"memory":9007199254740993}}}]}',
      { cpu: '2', memory: '9007199254740993' },
    ],
    ['a name that all objects have', '{"containers":[{"resources":{"requests":{"constructor":"1"}}}]}', { constructor: '1' }],
    ['less than nothing', '{"containers":[{"resources":{"requests":{"cpu":"-1"}}},{"resources":{"requests":{"cpu":"3"}}}]}', { cpu: '2' }],
    [
      'what a Pod cannot ask for as a whole',
      '{"resources":{"requests":{"hugepages-2Mi":"4Mi","example.com/gpu":"1"}}}',
      { 'hugepages-2Mi': '4Mi' },
    ],
  ])('it holds %s', (_, spec, requests) => {
    expect(requestsOf(spec)).toEqual(requests);
  });

  test('its status is no better', () => {
    const one = '{"containers":[{"name":"web","resources":{"requests":{"cpu":"1"}}}]}';
    for (const status of ['null', '{"containerStatuses":7}', '{"containerStatuses":[null,{"name":"web","resources":7}],"conditions":{}}']) {
      expect(requestsOf(one, status)).toEqual({ cpu: '1' });
    }
  });
});
