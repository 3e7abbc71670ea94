import { type Command as Commander, InvalidArgumentError } from 'commander';
import type { Json } from '../../core/json.ts';
import { exitCodes } from '../command-failure.ts';
import { type GatewayFlags, type Run, withGatewayOptions } from '../gateway-options.ts';
import { jsonOrText } from '../json-or-text.ts';
import type { Session } from '../session.ts';
import { textOfFile } from '../text-of-file.ts';

type Variables = Readonly<Record<string, Json>>;

type QueryFlags = GatewayFlags & { readonly var?: Variables; readonly operation?: string };

const help = `
Prints the answer as JSON: data, errors, extensions. The value of a --var is
JSON if it can be read as such, else text:
  muster query images.graphql --var namespaces='["shop"]' --var labels=app=web
  echo '{ clusters { name } }' | muster query -

Exits with 1 if the answer has errors.`;

/** `muster query`: asks what stands in a file. */
export function addQuery(program: Commander, run: Run): void {
  withGatewayOptions(program.command('query'))
    .description('ask what stands in a file, and print the answer')
    .argument('<file>', 'the GraphQL document; - for standard input')
    .option('--var <name=value>', 'a variable; may be repeated', variable)
    .option('--operation <name>', 'which operation of the document, if it has several')
    .addHelpText('after', help)
    .action((file: string, flags: QueryFlags) => run(flags, (session) => askFile(session, file, flags)));
}

async function askFile({ gateway, terminal }: Session, file: string, { var: variables = {}, operation }: QueryFlags): Promise<number> {
  const query = await textOfFile(file, terminal);
  const answer = await gateway.ask({ query, variables, ...(operation === undefined ? {} : { operationName: operation }) });
  await terminal.out(`${JSON.stringify(answer, null, 2)}\n`);
  return answer.errors === undefined ? exitCodes.good : exitCodes.failed;
}

function variable(text: string, before: Variables = {}): Variables {
  const [, name, value = ''] = /^([_A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Expected name=value.');
  // As an own key, whatever its name.
  return Object.fromEntries([...Object.entries(before), [name, jsonOrText(value)]]);
}
