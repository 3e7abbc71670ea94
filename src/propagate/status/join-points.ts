import type { V1LoadBalancerIngress, V1PortStatus } from '@kubernetes/client-node';
import { itemsOf, numberOrZero, type Stored, textOrUndefined } from '../../core/stored.ts';
import { compareText } from '../../core/text.ts';

type Point = Stored<V1LoadBalancerIngress>;
type Port = Stored<V1PortStatus>;

/**
 * The fields that distinguish points of entry. A point of entry is one item of `status.loadBalancer.ingress` of a Service or Ingress. Only
 * those of Services have `ipMode`.
 */
export type PointFields = readonly ('hostname' | 'ip' | 'ipMode')[];

/** The fields of points of Services. */
export const servicePoints: PointFields = ['hostname', 'ip', 'ipMode'];
/** The fields of points of Ingresses. */
export const ingressPoints: PointFields = ['hostname', 'ip'];

/**
 * Joins the points of entry of many clusters into one list. Equal points become one point, which has the ports of all of them. Sorted:
 * points with a hostname before those without, then by the values of `fields`, one field after the other. A missing value sorts before any
 * other. The ports of a point are sorted by port, protocol and error.
 */
export function joinPoints(points: readonly Point[], fields: PointFields): readonly Point[] {
  const joined = new Map<string, { readonly point: Point; readonly ports: Map<string, Port> }>();
  for (const point of itemsOf(points)) {
    const key = JSON.stringify(fields.map((field) => textOrUndefined(point[field]) ?? ''));
    const entry = joined.get(key) ?? { point: addressOf(point, fields), ports: new Map<string, Port>() };
    joined.set(key, entry);
    for (const port of itemsOf(point.ports)) entry.ports.set(JSON.stringify(portKeyOf(port)), port);
  }
  return [...joined.values()].map(withPorts).sort((a, b) => comparePoints(a, b, fields));
}

/** Returns only the fields that distinguish the point. An empty text counts as absent. */
function addressOf(point: Point, fields: PointFields): Point {
  return Object.fromEntries(fields.map((field) => [field, textOrUndefined(point[field]) ?? ''] as const).filter(([, text]) => text !== ''));
}

function withPorts({ point, ports }: { readonly point: Point; readonly ports: ReadonlyMap<string, Port> }): Point {
  return ports.size === 0 ? point : { ...point, ports: [...ports.values()].sort(comparePorts) };
}

function comparePoints(a: Point, b: Point, fields: PointFields): number {
  const nameless = Number(!a.hostname) - Number(!b.hostname);
  if (nameless !== 0) return nameless;
  for (const field of fields) {
    const order = compareText(a[field] ?? '', b[field] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

function comparePorts(a: Port, b: Port): number {
  const [port, protocol, error] = portKeyOf(a);
  const [otherPort, otherProtocol, otherError] = portKeyOf(b);
  return port - otherPort || compareText(protocol, otherProtocol) || compareText(error, otherError);
}

function portKeyOf({ port, protocol, error }: Port): readonly [number, string, string] {
  return [numberOrZero(port), textOrUndefined(protocol) ?? '', textOrUndefined(error) ?? ''];
}
