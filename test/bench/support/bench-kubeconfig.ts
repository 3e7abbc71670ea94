import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The address of one API server, as the canned server prints it. */
export interface BenchServer {
  readonly name: string;
  readonly url: string;
  readonly ca: string;
}

/** Writes a kubeconfig with a context per server into a new folder. Returns the path of the file. */
export function writeKubeconfig(servers: readonly BenchServer[]): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': servers[0]?.name ?? '',
    clusters: servers.map(({ name, url, ca }) => ({
      name,
      cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
    })),
    users: servers.map(({ name }) => ({ name, user: { token: 'bench' } })),
    contexts: servers.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  };
  return writeKubeconfigText(JSON.stringify(config));
}

/** Writes this kubeconfig into a new folder. Returns the path of the file. */
export function writeKubeconfigText(text: string): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'muster-bench-')), 'kubeconfig');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}
