import { createObjectClient } from '../changes/create-object-client.ts';
import { type KubeconfigContext, loadKubeconfig } from '../cluster/kubeconfig/kubeconfig.ts';
import type { ProcessEnvironment } from '../cluster/kubeconfig/proxy-choice.ts';
import { connectCluster } from '../cluster/requests/connect-cluster.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import { silentLog } from '../core/log.ts';
import { nearestWord } from '../core/nearest-word.ts';
import type { ContextCluster } from './registration-steps.ts';

export interface OpenContextsOptions {
  /** The file of `--kubeconfig`. Default: as kubectl. */
  readonly kubeconfig?: string | undefined;
  readonly environment: ProcessEnvironment;
  readonly clock: Clock;
}

/**
 * Opens the context of this name, or the current context for undefined. Sends no request.
 *
 * @throws {MusterError} `BAD_INPUT` if the context does not exist or is broken.
 */
export type OpenContext = (name: string | undefined) => ContextCluster;

/**
 * Reads the kubeconfig, and returns a function that opens its contexts. When the signal aborts, all connections of these contexts end.
 *
 * @throws {MusterError} `BAD_INPUT` with one line if there is no kubeconfig or it is broken.
 */
export async function readContexts(
  { kubeconfig: file, environment, clock }: OpenContextsOptions,
  signal: AbortSignal,
): Promise<OpenContext> {
  const found = await loadKubeconfig({ environment, file });
  if (found === undefined) throw new MusterError('BAD_INPUT', 'no kubeconfig was found: expected --kubeconfig');
  return (wanted) => {
    const name = wanted ?? found.currentContext;
    if (name === undefined) throw new MusterError('BAD_INPUT', 'the kubeconfig has no current context: expected --hub');
    const { endpoint } = usable(name, found.contexts);
    const api = connectCluster(endpoint, { clock, log: silentLog, signal });
    return { name, endpoint, api, client: createObjectClient(api) };
  };
}

function usable(wanted: string, contexts: readonly KubeconfigContext[]) {
  const found = contexts.find(({ name }) => name === wanted);
  if (found?.result === 'usable') return found;
  if (found !== undefined) throw new MusterError('BAD_INPUT', `the context ${wanted} cannot be used: ${found.problem}`);
  const names = contexts.map(({ name }) => name);
  const meant = nearestWord(wanted, names);
  const advice = meant === undefined ? `expected one of ${names.slice(0, 20).join(', ')}` : `did you mean ${meant}?`;
  throw new MusterError('BAD_INPUT', `the kubeconfig has no context ${JSON.stringify(wanted)}: ${advice}`);
}
