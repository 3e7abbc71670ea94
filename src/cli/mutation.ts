import type { Json } from '../core/json.ts';
import type { GatewayClient } from './gateway-client.ts';

/** Arguments by name: of which type of the schema, and with which value. */
export type Arguments = Readonly<Record<string, { readonly type: string; readonly value: Json }>>;

/** One field of `Mutation`. */
export interface Mutation {
  readonly field: string;
  readonly given: Arguments;
  /** What is asked for of its outcome. */
  readonly selection: string;
}

/** Asks for it, and gives its outcome. @throws {CommandFailure} of the first error. */
export async function mutate<Outcome>(gateway: GatewayClient, { field, given, selection }: Mutation): Promise<Outcome> {
  const declared = Object.entries(given).map(([name, { type }]) => `$${name}: ${type}`);
  const passed = Object.keys(given).map((name) => `${name}: $${name}`);
  const query = `mutation (${declared.join(', ')}) { outcome: ${field}(${passed.join(', ')}) { ${selection} } }`;
  const variables = Object.fromEntries(Object.entries(given).map(([name, { value }]) => [name, value]));
  const { outcome } = await gateway.query<{ readonly outcome: Outcome }>(query, variables);
  return outcome;
}
