import { type GraphQLOutputType, getNamedType, isInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { keyOfKind } from '../../src/core/kinds.ts';
import type { Row } from '../../src/load/reads/reads.ts';
import { jobPhases } from '../../src/model/columns/job-phase.ts';
import type { ModelKind } from '../../src/model/model.ts';
import { answeringRelations } from '../support/graph/answering-relations.ts';
import { graphOfMessages, kindOf, messageOf, named, nowMs, rowIn, viewOf } from '../support/graph/graph-messages.ts';
import { sampleOf } from '../support/graph/model-samples.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

const fault = { code: 'UNREACHABLE', cluster: named('north'), message: 'no answer', retry: 'LATER' } as const;
const north = viewOf('north', { taints: [{ key: 'a', effect: 'NoSchedule' }], faults: [fault] });
const graph = graphOfMessages({
  reads: { servedKinds: () => [] },
  logs: { readOfPod: () => new Promise(() => undefined) },
  relations: answeringRelations(loadBaseline(), north, 'Pod'),
});
const { model, schema } = graph;

/** Selects every field without required arguments to this depth, and one level of relations. The logs of Pods are left out, because they wait. */
function everything(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (!isObjectType(named) && !isInterfaceType(named)) return '';
  const fields = Object.values(named.getFields()).filter(
    (field) => field.args.every(({ type: argument }) => !String(argument).endsWith('!')) && String(field.type) !== 'PodLog!',
  );
  const selected = fields.flatMap((field) => {
    const inner = getNamedType(field.type);
    if (!isObjectType(inner) && !isInterfaceType(inner)) return [field.name];
    const deepest = field.extensions.personal === true ? 1 : depth;
    const below = depth > 0 ? everything(field.type, Math.min(depth - 1, deepest)) : '';
    return below === '' ? [] : [`${field.name} ${below}`];
  });
  return selected.length === 0 ? '' : `{ __typename ${selected.join(' ')} }`;
}

function streamOf(field: string, args = ''): string {
  const { type } = schema.getSubscriptionType()?.getFields()[field] ?? {};
  if (type === undefined) throw new Error(`no stream ${field}`);
  return `subscription { ${field}${args} ${everything(type, 4)} }`;
}

async function expectValues(query: string, message: object): Promise<void> {
  const { result } = await graph.render(query, message);
  expect(result, query.slice(0, 60)).not.toBeInstanceOf(Promise);
  const { data, errors } = await result;
  expect(errors).toBeUndefined();
  expect(data).toBeTruthy();
}

function rowsOf(kind: ModelKind): readonly Row[] {
  return [0, 1].map((rank) => rowIn(model, north, { key: keyOfKind(kind), object: sampleOf(model, kind, rank).object }));
}

function messageAbout(kind: ModelKind) {
  const rows = rowsOf(kind);
  return messageOf(model, { kind, cluster: north, fault, added: rows, modified: rows, deleted: rows });
}

test('every field of a message about any kind resolves without a promise', async () => {
  for (const kind of model.kinds.values()) await expectValues(streamOf(kind.many), messageAbout(kind));
});

test('so do messages about several kinds, the status of Jobs, and logs', async () => {
  const jobs = kindOf(model, 'Job.batch');
  await expectValues(streamOf('resources', '(kinds: "jobs")'), messageAbout(jobs));
  const byPhase = jobPhases.map((phase) => ({ phase, count: 1 }));
  const sync = { cluster: north, kind: jobs, phase: 'STALE', asOfMs: nowMs, fault };
  const summary = { total: 6, stale: 6, byPhase, byCluster: [{ cluster: north, total: 6, byPhase, sync }] };
  await expectValues(streamOf('jobStatus'), { ...messageAbout(jobs), summary });
  const lines = [{ text: 'one' }];
  const batch = { type: 'FAILED', cluster: north, namespace: 'shop', pod: 'web', container: 'main', lines, dropped: 0, fault };
  await expectValues(streamOf('podLogs'), batch);
});

test('the logs of a Pod need a promise', async () => {
  const { result } = await graph.render('subscription { pods { added { logs { text } } } }', messageAbout(kindOf(model, 'Pod')));
  expect(result).toBeInstanceOf(Promise);
});
