import type { ProcessEnvironment } from '../cluster/kubeconfig/proxy-choice.ts';
import type { Clock } from '../core/clock.ts';
import { type JoinRequest, joinCluster } from './join-cluster.ts';
import { type LeaveRequest, leaveCluster } from './leave-cluster.ts';
import { readContexts } from './open-contexts.ts';
import type { RegistrationResult } from './registration-result.ts';

/** The contexts of a command. */
interface CommandContexts {
  /** The file of `--kubeconfig`. Default: the files that kubectl would read. */
  readonly kubeconfig?: string | undefined;
  /** The context of the hub. Default: the current context. */
  readonly hub?: string | undefined;
}

export interface CommandPorts {
  readonly environment: ProcessEnvironment;
  readonly clock: Clock;
}

/**
 * Runs `muster join` with the contexts of the kubeconfig.
 *
 * @throws {MusterError} `BAD_INPUT` if the kubeconfig or a context does not exist or is broken.
 */
export async function runJoin(
  { kubeconfig, hub, context, ...request }: JoinRequest & CommandContexts & { readonly context: string },
  { environment, clock }: CommandPorts,
  signal: AbortSignal,
): Promise<RegistrationResult> {
  return withContexts({ kubeconfig, environment, clock }, (open) => {
    const member = { ...open(context), name: request.name };
    return joinCluster(request, { member, hub: open(hub), clock }, signal);
  });
}

/**
 * Runs `muster leave` with the contexts of the kubeconfig.
 *
 * @throws {MusterError} `BAD_INPUT` if the kubeconfig or a context does not exist or is broken.
 */
export async function runLeave(
  { kubeconfig, hub, context, ...request }: LeaveRequest & CommandContexts & { readonly context: string | undefined },
  { environment, clock }: CommandPorts,
  signal: AbortSignal,
): Promise<RegistrationResult> {
  return withContexts({ kubeconfig, environment, clock }, (open) => {
    const member = context === undefined ? undefined : { ...open(context), name: request.name };
    return leaveCluster(request, { member, hub: open(hub), clock }, signal);
  });
}

type ContextSources = Parameters<typeof readContexts>[0];
type OpenContext = Awaited<ReturnType<typeof readContexts>>;

/** Runs a command with the contexts of the kubeconfig. Closes their connections afterwards. */
async function withContexts(
  sources: ContextSources,
  command: (open: OpenContext) => Promise<RegistrationResult>,
): Promise<RegistrationResult> {
  const life = new AbortController();
  try {
    return await command(await readContexts(sources, life.signal));
  } finally {
    life.abort();
  }
}
