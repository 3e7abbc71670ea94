import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { ingressPoints, joinPoints, servicePoints } from '../../../src/propagate/status/join-points.ts';

const port = fc.record({
  port: fc.constantFrom(80, 443),
  protocol: fc.constantFrom('TCP', 'UDP'),
  error: fc.constantFrom(undefined, 'busy', 'taken'),
});
const point = fc.record(
  {
    hostname: fc.constantFrom('a.example', 'b.example', ''),
    ip: fc.constantFrom('192.0.2.1', '192.0.2.2'),
    ipMode: fc.constantFrom('VIP', 'Proxy'),
    ports: fc.array(port, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);

/** Returns the content of a list of points: each address with each of its ports, or without ports. */
function said(points: readonly object[], fields: readonly string[]): ReadonlySet<string> {
  return new Set(
    points.flatMap((one) => {
      const given: Readonly<Record<string, unknown>> = { ...one };
      const address = JSON.stringify(fields.map((field) => given[field] ?? ''));
      const ports = Array.isArray(given.ports) ? given.ports : [];
      return [address, ...ports.map((its) => `${address} ${its.port}/${its.protocol}/${its.error ?? ''}`)];
    }),
  );
}

test('keeps each address with each of its ports once, in any order', () => {
  fc.assert(
    fc.property(fc.array(point), fc.constantFrom(servicePoints, ingressPoints), (points, fields) => {
      const plain = JSON.parse(JSON.stringify(points));
      const joined = joinPoints(plain, fields);
      expect(said(joined, fields)).toEqual(said(points, fields));
      expect(joined.length).toBe(new Set(joined.map((one) => JSON.stringify(fields.map((field) => one[field] ?? '')))).size);
      expect(JSON.stringify(joinPoints(plain.toReversed(), fields))).toBe(JSON.stringify(joined));
      expect(joinPoints(joined, fields)).toEqual(joined);
    }),
  );
});

test('leaves out values that are no points', () => {
  expect(joinPoints(['x', null, 3, { ip: '192.0.2.1' }] as unknown as JsonObject[], ingressPoints)).toEqual([{ ip: '192.0.2.1' }]);
});
