import { askForEvents } from '../clients/event-client.ts';
import { createManualClock } from '../manual-clock.ts';
import { fedSchema, HandFedSource } from './hand-fed-streams.ts';
import { type ServingChanges, startServing } from './start-serving.ts';

/** Starts the edge over a hand-fed source, with a clock that only the test moves. */
export async function startFed(changes: ServingChanges = {}) {
  const source = new HandFedSource();
  const { schema, fields } = fedSchema(source);
  const clock = createManualClock();
  const edge = await startServing({ schema: () => schema, clock, ...changes });
  const streams = async () => {
    const text = await (await fetch(`${edge.origin}/metrics`)).text();
    return Number(/^muster_streams\{transport="sse"\} (\d+)$/m.exec(text)?.[1]);
  };
  return {
    ...edge,
    source,
    fields,
    clock,
    streams,
    events: (query: string, headers: Record<string, string> = {}, variables = {}) => askForEvents(edge.url, { query, variables }, headers),
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
  };
}
