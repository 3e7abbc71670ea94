import { setTimeout as inRealTime } from 'node:timers/promises';
import type { RawAnswer, RawRequest } from '../clients/raw-client.ts';

/** The reason why admission refuses: an exhausted quota, an admission policy, or a webhook that does not answer. */
export type RefusalKind = 'quota' | 'policy' | 'webhook';

/** A refusal that lasts until it is disposed of. Disposing of it twice is allowed. */
export interface Refusal extends AsyncDisposable {
  end(): Promise<void>;
}

interface Refusing {
  readonly send: (method: string, path: string, request?: RawRequest) => Promise<RawAnswer>;
  readonly namespace: string;
  readonly how: RefusalKind;
}

interface Piece {
  readonly path: string;
  readonly body: object;
}

/**
 * Makes a real API server refuse ConfigMaps in the namespace. Resolves when it does.
 *
 * @throws {Error} if it still accepts them after 15 s.
 */
export async function refuseOnServer({ send, namespace, how }: Refusing): Promise<Refusal> {
  const pieces = piecesOf(how, namespace);
  for (const { path, body } of pieces) {
    const { status, text } = await send('POST', path, { body });
    if (status !== 201) throw new Error(`expected ${path} to be made, got ${text}`);
  }
  // A bare API server has no controller that counts. So the status of the quota is set to "exhausted".
  if (how === 'quota') await useUp(send, namespace);
  const isTaken = async () => (await tried(send, namespace)) === 201;
  await waitWhile(isTaken);
  const end = async () => {
    for (const { path, body } of pieces) await send('DELETE', `${path}/${(body as { metadata: { name: string } }).metadata.name}`);
    await waitWhile(async () => !(await isTaken()));
  };
  let ended: Promise<void> | undefined;
  const once = () => {
    ended ??= end();
    return ended;
  };
  return { end: once, [Symbol.asyncDispose]: once };
}

async function tried(send: Refusing['send'], namespace: string): Promise<number> {
  const body = { metadata: { name: 'tried' } };
  return (await send('POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, { body })).status;
}

async function waitWhile(isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 15_000; await isSo(); await inRealTime(100))
    if (performance.now() > endMs) throw new Error('expected the server to change its mind within 15 s');
}

async function useUp(send: Refusing['send'], namespace: string): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const body = { status: { hard: { 'count/configmaps': '0' }, used: { 'count/configmaps': '0' } } };
  await send('PATCH', `/api/v1/namespaces/${namespace}/resourcequotas/none/status`, { body, headers });
}

function piecesOf(how: RefusalKind, namespace: string): readonly Piece[] {
  const admission = '/apis/admissionregistration.k8s.io/v1';
  const name = `refused-in-${namespace}`;
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] };
  switch (how) {
    case 'quota':
      return [
        {
          path: `/api/v1/namespaces/${namespace}/resourcequotas`,
          body: { metadata: { name: 'none' }, spec: { hard: { 'count/configmaps': '0' } } },
        },
      ];
    case 'policy':
      return [
        {
          path: `${admission}/validatingadmissionpolicies`,
          body: {
            metadata: { name },
            spec: {
              matchConstraints: { namespaceSelector, resourceRules: [rule] },
              validations: [{ expression: 'false', message: 'never' }],
            },
          },
        },
        {
          path: `${admission}/validatingadmissionpolicybindings`,
          body: { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } },
        },
      ];
    case 'webhook': {
      const clientConfig = { url: 'https://127.0.0.1:1/never' };
      const webhook = { name: 'away.example.com', clientConfig, namespaceSelector, rules: [rule], timeoutSeconds: 1 };
      const rest = { failurePolicy: 'Fail', sideEffects: 'None', admissionReviewVersions: ['v1'] };
      return [{ path: `${admission}/validatingwebhookconfigurations`, body: { metadata: { name }, webhooks: [{ ...webhook, ...rest }] } }];
    }
    default:
      return how satisfies never;
  }
}
