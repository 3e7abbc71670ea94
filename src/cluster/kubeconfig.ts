import type { Endpoint } from './endpoint.ts';

/** One context: what it takes to connect, or why that cannot be known. */
export type KubeconfigContext =
  | { readonly name: string; readonly result: 'usable'; readonly endpoint: Endpoint }
  /** `problem` says what was expected and what came, with the file and the path of the key. */
  | { readonly name: string; readonly result: 'broken'; readonly problem: string };

/** What the kubeconfig files together say, by kubectl's rules: the first file that sets a thing wins. */
export interface Kubeconfig {
  /** The files that were read, in order; those of an in-cluster configuration are its token and CA. */
  readonly paths: readonly string[];
  /** `named`: by flag or KUBECONFIG; `home`: `~/.kube/config`; `inCluster`: the service account of our own pod. */
  readonly origin: 'named' | 'home' | 'inCluster';
  readonly currentContext?: string;
  /** In the files' order. */
  readonly contexts: readonly KubeconfigContext[];
}

export interface KubeconfigQuery {
  /** `--kubeconfig`: only this file then. */
  readonly file?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}
