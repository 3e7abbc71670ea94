/** The flags of `muster join` and `muster leave` about the kubeconfig and the hub. */
interface RegistrationInput {
  /** The name of the cluster on the hub. */
  readonly name: string;
  /** The system namespace of the hub. */
  readonly namespace: string;
  /** The context of the hub. Undefined: the current one. */
  readonly hub: string | undefined;
  /** Undefined: the kubeconfig that kubectl uses. */
  readonly kubeconfig: string | undefined;
  readonly dryRun: boolean;
}

/** The input of `muster join`. Undefined labels, region and provider keep the values of an existing Cluster. */
interface JoinInput extends RegistrationInput {
  readonly context: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly region: string | undefined;
  readonly provider: string | undefined;
  readonly write: boolean;
  readonly rotate: boolean;
  readonly lifetimeSeconds: number;
}

/** The input of `muster leave`. Without a context, only the objects on the hub are deleted. */
interface LeaveInput extends RegistrationInput {
  readonly context: string | undefined;
  readonly abandon: boolean;
}

/** One object that a command has created, changed, found unchanged, or deleted. */
interface RegistrationLine {
  readonly cluster: string;
  /** The kind and the name, such as `namespace/muster-system`. */
  readonly object: string;
  readonly action: string;
}

/** The outcome of `muster join` or `muster leave`. For `failed`, `steps` are the changes that were not undone. */
export type RegistrationOutcome =
  | { readonly result: 'done'; readonly steps: readonly RegistrationLine[]; readonly notes: readonly string[] }
  | { readonly result: 'failed'; readonly steps: readonly RegistrationLine[]; readonly message: string };

/** Registers clusters with the contexts of a kubeconfig. `main.ts` passes it in, because this folder may not import the cluster API. */
export interface Registrations {
  /** @throws {MusterError} `BAD_INPUT` if the kubeconfig or a context does not exist or is broken. */
  join(input: JoinInput): Promise<RegistrationOutcome>;
  /** @throws {MusterError} `BAD_INPUT` if the kubeconfig or a context does not exist or is broken. */
  leave(input: LeaveInput): Promise<RegistrationOutcome>;
}
