import { type Command as Commander, InvalidArgumentError } from 'commander';
import type { OperationDefinitionNode } from 'graphql';
import { isJsonObject, type Json, type JsonObject, parseJsonExactly, parseJsonOrText } from '../../core/json.ts';
import { type GatewayFlags, type RunCommand, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readTextFile } from '../arguments/read-sources.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { GatewayRequest } from '../client/gateway-client.ts';
import type { Session } from '../client/session.ts';
import { StreamLost } from '../client/subscription.ts';
import { jsonText } from '../output/json-text.ts';
import type { Terminal } from '../output/terminal.ts';

/** The variables of `--var`: the text of each value by the name of the variable. */
type Variables = Readonly<Record<string, string>>;

type QueryFlags = GatewayFlags & { readonly var?: Variables; readonly vars?: string; readonly operation?: string };

const help = `
Prints the answer as JSON: data, errors, extensions. Of a subscription it prints
each message on one line, until it is interrupted. The value of --var is JSON,
or text if it is not JSON; @FILE reads JSON from a file. --vars reads all
variables from a file with a JSON or YAML object; --var wins over it:
  muster query '{ clusters { name } }'
  muster query images.graphql
  muster query node.graphql --var first=3 --var clusters='["eu-prod"]'
  muster query plan.graphql --vars intent.json
  echo '{ clusters { name } }' | muster query -
Exits with 1 if an answer has errors.`;

/** Adds `muster query`: executes a GraphQL document. An argument with a brace is the document itself. */
export function addQueryCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(program.command('query'))
    .description('execute a GraphQL document, and print the answer')
    .argument('<document>', 'the GraphQL document, or a file with it; - for standard input')
    .option('--var <name=value>', 'a variable; may be repeated', variable)
    .option('--vars <file>', 'a file with variables, as a JSON or YAML object; - for standard input')
    .option('--operation <name>', 'the operation of the document, if it has several')
    .addHelpText('after', help)
    .action((file: string, flags: QueryFlags) => {
      // Standard input can be read only once.
      let reading: Promise<string> | undefined;
      const read = (terminal: Terminal) => {
        reading ??= file.includes('{') ? Promise.resolve(file) : readTextFile(file, terminal);
        return reading;
      };
      const writes = async (terminal: Terminal) => (await operationIn(await read(terminal), flags.operation))?.operation === 'mutation';
      return run(flags, async (session) => runText(session, await read(session.terminal), flags), { writes });
    });
}

async function runText(session: Session, query: string, { var: written = {}, vars, operation: name }: QueryFlags): Promise<number> {
  const { gateway, terminal } = session;
  const operation = await operationIn(query, name);
  const fromFile = vars === undefined ? {} : await variablesOf(vars, session);
  if (operation !== undefined) refuseUndeclared(operation, [...Object.keys(fromFile), ...Object.keys(written)]);
  const values = await Promise.all(Object.entries(written).map(async ([key, text]) => [key, await givenValue(text, session)] as const));
  // `Object.fromEntries` makes own keys even of names such as `__proto__`.
  const variables: JsonObject = Object.fromEntries([...Object.entries(fromFile), ...values]);
  const request = { query, variables, ...(name === undefined ? {} : { operationName: name }) };
  if (operation?.operation === 'subscription') return printMessages(session, request);
  const answer = await gateway.send(request);
  await terminal.out(`${jsonText(answer, 2)}\n`);
  return answer.errors === undefined ? exitCodes.good : exitCodes.failed;
}

/**
 * Returns the operation of this name. Without a name, returns the only operation of the document. Undefined if there is none or the document is
 * invalid; the gateway then answers with the error.
 */
async function operationIn(text: string, name: string | undefined): Promise<OperationDefinitionNode | undefined> {
  const { getOperationAST, parse } = await import('graphql');
  try {
    return getOperationAST(parse(text, { noLocation: true }), name) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Refuses variables that the operation does not declare. GraphQL ignores them, so a filter with a mistyped name would select everything.
 *
 * @throws {CommandFailure} for the first such variable.
 */
function refuseUndeclared({ variableDefinitions = [] }: OperationDefinitionNode, names: readonly string[]): void {
  const declared = variableDefinitions.map(({ variable: { name } }) => name.value);
  const unknown = names.find((name) => !declared.includes(name));
  if (unknown === undefined) return;
  const known = declared.length === 0 ? 'it has none' : `it has ${declared.map((name) => `$${name}`).join(', ')}`;
  throw new CommandFailure(exitCodes.refused, `the operation has no variable $${unknown}: ${known}`);
}

async function printMessages({ openStream, terminal, signal }: Session, request: GatewayRequest): Promise<number> {
  let code: number = exitCodes.good;
  try {
    for await (const message of openStream(request, signal)) {
      if (message.errors !== undefined) code = exitCodes.failed;
      await terminal.out(`${jsonText(message)}\n`);
    }
  } catch (error) {
    // The command cannot resume a lost stream, because it does not know which variable of the document takes the cursor.
    if (!(error instanceof StreamLost)) throw error;
    throw new CommandFailure(exitCodes.failed, error.message, { cause: error });
  }
  return code;
}

async function givenValue(text: string, { terminal }: Session): Promise<Json> {
  if (!text.startsWith('@')) return parseJsonOrText(text);
  const file = text.slice(1);
  const content = await readTextFile(file, terminal);
  try {
    return parseJsonExactly(content);
  } catch (error) {
    throw new CommandFailure(exitCodes.refused, `expected JSON in ${file}: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
}

async function variablesOf(file: string, { terminal, reader }: Session): Promise<JsonObject> {
  const name = file === '-' ? 'standard input' : file;
  const text = await readTextFile(file, terminal);
  // JSON may be indented with tabs, which YAML refuses.
  const json = parseJsonOrText(text);
  if (isJsonObject(json)) return json;
  const read = await reader.documents(text);
  if (read.result === 'refused') throw new CommandFailure(exitCodes.refused, `${name}: ${read.message}`);
  const [variables = {}, another] = read.documents;
  if (isJsonObject(variables) && another === undefined) return variables;
  throw new CommandFailure(exitCodes.refused, `${name}: expected one JSON or YAML object with the variables by name`);
}

function variable(text: string, before: Variables = {}): Variables {
  const [, name, value = ''] = /^([_A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Expected name=value.');
  return Object.fromEntries([...Object.entries(before), [name, value]]);
}
