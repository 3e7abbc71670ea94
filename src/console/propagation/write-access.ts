import { usePolled } from '../gateway/use-polled.ts';

interface AccessAnswers {
  readonly gateway: { readonly readOnly: boolean };
  readonly create?: readonly { readonly allowed: boolean | null }[];
  readonly update?: readonly { readonly allowed: boolean | null }[];
  readonly delete?: readonly { readonly allowed: boolean | null }[];
}

/** The rights of the user to the Propagations of a namespace. */
export interface WriteAccess {
  readonly propagate: boolean;
  readonly change: boolean;
  readonly delete: boolean;
  /** Why a right is missing. Undefined if the user has all rights, or while the answer has not come. */
  readonly problem: string | undefined;
}

const question = (verb: string) => `${verb}: canI(kind: "Propagation.muster.dev", verb: "${verb}", namespace: $namespace) { allowed }`;

const accessQuery = `query ($namespace: String!) { gateway { readOnly } ${['create', 'update', 'delete'].map(question).join(' ')} }`;

const nothing: WriteAccess = { propagate: false, change: false, delete: false, problem: undefined };

/** Why the gateway keeps no Propagations, for example because it has no hub. */
const hubQuery = '{ gateway { controllerProblem } }';

interface HubAnswer {
  readonly gateway: { readonly controllerProblem: string | null };
}

/** Asks which rights the user has. Before the answer there are none. Only the hub serves Propagations, so a right in one cluster is enough. */
export function useWriteAccess(namespace: string): WriteAccess {
  const { data, failure } = usePolled<AccessAnswers>({ query: accessQuery, variables: { namespace }, everyMs: 30_000 });
  const hub = usePolled<HubAnswer>(failure === undefined ? undefined : { query: hubQuery, everyMs: 30_000 });
  if (failure !== undefined) {
    // The failure names a missing kind. The answer about the hub says why it is missing.
    if (hub.data === undefined && hub.failure === undefined) return nothing;
    return { ...nothing, problem: `No Propagation can be written here: ${hub.data?.gateway.controllerProblem ?? failure.message}.` };
  }
  if (data === undefined) return nothing;
  if (data.gateway.readOnly) return { ...nothing, problem: 'This gateway is read-only: Propagations can be planned, but not changed.' };
  const may = (answers: AccessAnswers['create'] = []) => answers.some(({ allowed }) => allowed === true);
  const access = { change: may(data.update), delete: may(data.delete) };
  const propagate = may(data.create) && access.change;
  const isAll = propagate && access.delete;
  return {
    ...access,
    propagate,
    problem: isAll ? undefined : `You may not do everything with Propagations in the namespace ${namespace}.`,
  };
}
