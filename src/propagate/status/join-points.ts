import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, numberAt, textAt } from '../../core/json-at.ts';
import { compareText } from '../../model/shapes.ts';

/** What tells one point of entry from another: of Services also how its address is reached. */
export type PointFields = readonly ('hostname' | 'ip' | 'ipMode')[];

/** Of Services. */
export const servicePoints: PointFields = ['hostname', 'ip', 'ipMode'];
/** Of Ingresses. */
export const ingressPoints: PointFields = ['hostname', 'ip'];

/**
 * The points of entry of many clusters as one list: equal ones joined, their ports united. Those with a hostname first, then by the fields in order, none
 * before any; ports by port, protocol and error.
 */
export function joinPoints(points: readonly Json[], fields: PointFields): readonly JsonObject[] {
  const joined = new Map<string, { readonly point: JsonObject; readonly ports: Map<string, Json> }>();
  for (const point of points.filter(isJsonObject)) {
    const key = JSON.stringify(fields.map((field) => textAt(point, field) ?? ''));
    const entry = joined.get(key) ?? { point: addressOf(point, fields), ports: new Map<string, Json>() };
    joined.set(key, entry);
    for (const port of listAt(point, 'ports')) entry.ports.set(JSON.stringify(portKeyOf(port)), port);
  }
  return [...joined.values()].map(withPorts).sort((a, b) => comparePoints(a, b, fields));
}

/** Only what tells it apart: an empty text says no more than none. */
function addressOf(point: JsonObject, fields: PointFields): JsonObject {
  return Object.fromEntries(fields.map((field) => [field, textAt(point, field) ?? ''] as const).filter(([, text]) => text !== ''));
}

function withPorts({ point, ports }: { readonly point: JsonObject; readonly ports: ReadonlyMap<string, Json> }): JsonObject {
  return ports.size === 0 ? point : { ...point, ports: [...ports.values()].sort(comparePorts) };
}

function comparePoints(a: JsonObject, b: JsonObject, fields: PointFields): number {
  const nameless = Number((textAt(a, 'hostname') ?? '') === '') - Number((textAt(b, 'hostname') ?? '') === '');
  if (nameless !== 0) return nameless;
  for (const field of fields) {
    const order = compareText(textAt(a, field) ?? '', textAt(b, field) ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

function comparePorts(a: Json, b: Json): number {
  const [port, protocol, error] = portKeyOf(a);
  const [otherPort, otherProtocol, otherError] = portKeyOf(b);
  return port - otherPort || compareText(protocol, otherProtocol) || compareText(error, otherError);
}

function portKeyOf(port: Json): readonly [number, string, string] {
  return [numberAt(port, 'port') ?? 0, textAt(port, 'protocol') ?? '', textAt(port, 'error') ?? ''];
}
