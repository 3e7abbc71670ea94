import type { Command as Commander } from 'commander';
import type { JsonObject } from '../../core/json.ts';
import type { GatewayFlags } from '../arguments/gateway-options.ts';
import { exitCodes } from '../client/command-failure.ts';
import { createGatewayClient, type GatewayAddress } from '../client/gateway-client.ts';
import { printable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { type Candidate, findCompletion } from './candidates.ts';

/** Milliseconds that completion waits for a gateway. Candidates that the gateway has not sent by then are left out. */
const patienceMs = 1_800;

export interface RunCompletionOptions {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Returns the gateway that flags or the environment name. Undefined: none. */
  readonly gateway: (flags: GatewayFlags) => Promise<GatewayAddress | undefined>;
}

/**
 * Prints the candidates for the last word, one on a line, with a description after a tab. The last line tells the script of the shell whether the
 * word may be a file: `:0` if so, else `:4`. Prints nothing on standard error, and ends within 2 s.
 *
 * @returns 0.
 */
export async function runCompletion(
  program: Commander,
  words: readonly string[],
  { terminal, signal, gateway }: RunCompletionOptions,
): Promise<number> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const query = async (text: string, variables: JsonObject) => {
    try {
      const address = await gateway(gatewayFlags(words));
      if (address === undefined) return undefined;
      return (await createGatewayClient(address, late).send({ query: text, variables })).data ?? undefined;
    } catch {
      // Completion has no way to report a problem: standard error would break the line that the user types.
      return undefined;
    }
  };
  const { candidates, takesFiles } = await findCompletion(program, words, query);
  await terminal.out(`${candidates.map(lineOf).join('')}:${takesFiles ? 0 : 4}\n`);
  return exitCodes.good;
}

function lineOf({ word, description = '' }: Candidate): string {
  return `${printable(word)}${description === '' ? '' : `\t${printable(description)}`}\n`;
}

/** Returns the flags that name a gateway. */
function gatewayFlags(words: readonly string[]): GatewayFlags {
  const flagValue = (flag: string) => {
    const at = words.indexOf(flag);
    return at === -1 ? words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1) : words[at + 1];
  };
  const [gateway, tokenFile] = [flagValue('--gateway'), flagValue('--token-file')];
  return { ...(gateway === undefined ? {} : { gateway }), ...(tokenFile === undefined ? {} : { tokenFile }) };
}
