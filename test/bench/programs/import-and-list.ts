// The floor of a first answer: imports client-node, reads the clusters of a kubeconfig, fetches and parses the lists.
//   import-and-list.ts KUBECONFIG
import { get } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { finish } from '../support/measuring.ts';

const config = new KubeConfig();
config.loadFromFile(process.argv[2] ?? '');
const lists = await Promise.all(
  config.getClusters().map(({ server, caData }) => podsOf(server, Buffer.from(caData ?? '', 'base64').toString())),
);
finish({ held: lists.flat().length });

async function podsOf(server: string, ca: string): Promise<readonly unknown[]> {
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    get(`${server}/api/v1/pods`, { ca, headers: { authorization: 'Bearer bench' } }, (response) => {
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('end', () => resolve());
    }).once('error', reject);
  });
  return (JSON.parse(Buffer.concat(chunks).toString('utf8')) as { items: unknown[] }).items;
}
