import { describe, expect, test } from 'vitest';
import type { Access } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import { noAudit } from '../../../src/audit/audit.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createPropagations } from '../../../src/propagate/api/create-propagations.ts';
import { createHubRights } from '../../../src/propagate/api/hub-rights.ts';
import { hubKinds } from '../../../src/propagate/hub/hub.ts';
import { hubDefinitions } from '../../../src/propagate/hub/hub-definitions.ts';
import { newShare } from '../../../src/propagate/hub/share-document.ts';
import { type ClusterLine, marks, type PropagationPhase } from '../../../src/propagate/model/propagation.ts';
import type { PropagationView } from '../../../src/propagate/model/propagations.ts';
import type { PropagationStatus } from '../../../src/propagate/model/status-definition.ts';
import { input, place, startPropagations } from './propagations-world.ts';

const done = { observedGeneration: 1, phase: 'Settled', revision: 1, digest: 'd' } as const;
const line = (cluster: string): ClusterLine => ({ cluster, phase: 'Settled', health: 'Healthy', since: '2026-01-01T00:00:00Z' });

describe('propagate', () => {
  test('writes the input with its requester, and can be read at once', async () => {
    await using hub = await startPropagations();
    const outcome = await hub.propagate(input({ conflict: 'SERVER_SIDE_APPLY', labels: { team: 'a' } }));

    expect(outcome).toMatchObject({ result: 'ACCEPTED', notes: [], faults: [], propagation: { phase: 'Planning', objects: [] } });
    const seen = await hub.world.pumped(hub.propagations.get(hub.context, place));
    expect(seen?.propagation).toMatchObject({
      metadata: { generation: 1, labels: { team: 'a' } },
      document: { conflict: 'ServerSideApply', requester: { user: 'gateway', groups: ['ops'], at: expect.stringMatching(/^2026-/) } },
    });
    expect(hub.planner.asked.map(({ how }) => how)).toEqual(['render']);
  });

  test('is REFUSED without the right to get, and shows neither the Propagation nor a plan', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input());
    const { planner, world, context, stores } = hub;
    const fault = { code: 'FORBIDDEN', message: 'no', cluster: clusterName('hub'), retry: 'NEVER' } as const;
    const access: Access = {
      ...createLocalAccess(),
      visibilityOf: ({ verb }) => (verb === 'get' ? { type: 'none', fault } : { type: 'all' }),
    };
    const rights = createHubRights({ access, cluster: clusterName('hub'), kind: hubKinds.propagation });
    const requesterOfCaller = () => ({ user: 'u', groups: [], extra: {} });
    const blind = createPropagations({ planner, hub: stores, rights, audit: noAudit, requesterOfCaller, clock: world.clock });
    for (const digest of [undefined, 'stale']) {
      const outcome = await world.pumped(blind.propagate(context, { input: input(), digest }));
      expect(outcome).toMatchObject({ result: 'REFUSED', notes: [], faults: [{ code: 'FORBIDDEN' }] });
      expect([outcome.propagation, outcome.plan]).toEqual([undefined, undefined]);
    }
  });

  test('is UNCHANGED and writes nothing if only the requester differs', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input({ labels: { team: 'a' } }));
    await hub.setStatus(done);
    const writes = hub.world.cluster('hub').writes().length;

    expect((await hub.propagate(input({ labels: { team: 'a' }, conflict: 'ABORT', overrides: [] }))).result).toBe('UNCHANGED');
    expect((await hub.propagate(input())).result).toBe('UNCHANGED');
    expect(hub.world.cluster('hub').writes()).toHaveLength(writes);

    expect((await hub.propagate(input({ labels: { team: 'b' } }))).result).toBe('ACCEPTED');
    expect((await hub.propagate(input({}, { a: '2' }))).result).toBe('ACCEPTED');
    expect((await hub.stored()).metadata).toMatchObject({ generation: 2, labels: { team: 'b' } });
  });

  test('leaves nothing of the previous spec', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input({ rollout: { soak: '90s' }, strict: true }));
    await hub.propagate(input({ rollout: { deadline: '10m' } }));

    expect((await hub.stored()).document).toMatchObject({ rollout: { deadline: '10m' } });
    expect((await hub.stored()).document).not.toHaveProperty('strict');
    expect((await hub.stored()).document.rollout).not.toHaveProperty('soak');
  });

  test.each([
    ['the planner finds an error', input(), { severity: 'ERROR', code: 'OVERRIDE_FAILED', message: '/spec/nothing/here' }],
    ['a field is none', input({ plaecment: {} }), { code: 'INVALID', path: 'plaecment', message: expect.stringContaining('placement') }],
    ['an enum value is none', input({ conflict: 'FIGHT' }), { path: 'conflict', message: expect.stringContaining('FIGHT') }],
    ['a selector is none', input({ placement: { selector: 'a in (' } }), { path: 'placement.selector' }],
    ['a selector compares', input({ placement: { selector: 'a > 3' } }), { path: 'placement.selector' }],
    [
      'it holds a Secret',
      input({ template: [{ yaml: 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}' }] }),
      { path: 'template[0].yaml' },
    ],
    ['it says who asks', input({ requester: { user: 'root', at: '2026-01-01T00:00:00Z' } }), { path: 'requester' }],
    ['its name is none', { ...input(), name: 'Web/../x' }, { path: 'name' }],
    ['its namespace is none', { ...input(), namespace: 'a.b' }, { path: 'namespace' }],
    ['a label is none', { ...input(), labels: { a: 'no spaces' } }, { path: 'labels.a' }],
  ])('is REFUSED, and writes nothing, where %s', async (why, asked, note) => {
    await using hub = await startPropagations();
    if (why === 'the planner finds an error') {
      hub.planner.notes = [{ severity: 'ERROR', code: 'OVERRIDE_FAILED', message: '/spec/nothing/here' }];
    }
    const outcome = await hub.propagate(asked);
    expect(outcome).toMatchObject({ result: 'REFUSED', notes: [{ severity: 'ERROR', ...note }] });
    expect(hub.world.cluster('hub').writes()).toEqual([]);
  });

  test('is REFUSED if an imported Propagation would replace one of another origin', async () => {
    await using hub = await startPropagations();
    const from = (cluster: string) => ({
      source: {
        system: 'Kubefed',
        cluster,
        objects: [{ apiVersion: 'types.kubefed.io/v1beta1', kind: 'FederatedConfigMap', name: 'web', role: 'Template' }],
      },
    });
    const taken = { severity: 'ERROR', code: 'NAME_TAKEN', path: 'source' };
    expect((await hub.propagate(input(from('one')))).result).toBe('ACCEPTED');
    expect((await hub.propagate(input(from('one'), { a: '2' }))).result).toBe('ACCEPTED');

    const plan = await hub.world.pumped(hub.propagations.plan(hub.context, input(from('two'), { a: '3' })));
    expect(plan).toMatchObject({ ok: false, notes: [taken] });
    expect(await hub.propagate(input(from('two'), { a: '3' }), plan.digest)).toMatchObject({ result: 'REFUSED', notes: [taken] });
    expect((await hub.stored()).metadata.generation).toBe(2);
    // Without a source, the user replaces it on purpose.
    expect((await hub.propagate(input({}, { a: '3' }))).result).toBe('ACCEPTED');
    expect((await hub.propagate(input(from('one')))).result).toBe('REFUSED');
  });

  test('is REFUSED in a namespace that does not exist', async () => {
    await using hub = await startPropagations();
    const outcome = await hub.propagate({ ...input(), namespace: 'nowhere' });
    expect(outcome).toMatchObject({ result: 'REFUSED', notes: [{ path: 'namespace', message: expect.stringContaining('nowhere') }] });
  });

  test('with a digest carries out exactly that plan, or nothing', async () => {
    await using hub = await startPropagations();
    const planned = await hub.world.pumped(hub.propagations.plan(hub.context, input()));
    hub.planner.fleet = 'changed since';

    const stale = await hub.propagate(input(), planned.digest);
    expect(stale).toMatchObject({ result: 'PLAN_STALE', plan: { digest: expect.not.stringMatching(planned.digest) } });
    expect(hub.world.cluster('hub').writes()).toEqual([]);

    expect((await hub.propagate(input(), stale.plan?.digest)).result).toBe('ACCEPTED');
    expect((await hub.stored()).metadata.annotations[marks.planDigest]).toBe(stale.plan?.digest);
    expect((await hub.propagate(input({}, { a: '2' }))).result).toBe('ACCEPTED');
    expect((await hub.stored()).metadata.annotations).not.toHaveProperty(marks.planDigest);
  });

  test('accepts a new digest if an old one holds the generation, without a new generation', async () => {
    await using hub = await startPropagations();
    const { digest } = await hub.world.pumped(hub.propagations.plan(hub.context, input()));
    await hub.propagate(input(), digest);
    await hub.setStatus({ observedGeneration: 1, phase: 'Held' });
    hub.planner.fleet = 'changed since';

    expect((await hub.propagate(input(), digest)).result).toBe('UNCHANGED');
    const renewed = await hub.world.pumped(hub.propagations.plan(hub.context, input()));
    expect((await hub.propagate(input(), renewed.digest)).result).toBe('ACCEPTED');
    expect((await hub.stored()).metadata).toMatchObject({ generation: 1, annotations: { [marks.planDigest]: renewed.digest } });
    expect((await hub.propagate(input())).result).toBe('ACCEPTED');
    expect((await hub.stored()).metadata.annotations).not.toHaveProperty(marks.planDigest);
  });

  test('decides again if another client wrote in between', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input());
    const render = hub.planner.render;
    let isFirst = true;
    hub.planner.render = async (request) => {
      if (isFirst) {
        isFirst = false;
        await hub.stores.propagations.annotate(await hub.stored(), { 'example.com/other': 'yes' }, hub.context.signal);
      }
      return await render(request);
    };
    expect((await hub.propagate(input({}, { a: '2' }))).result).toBe('ACCEPTED');
    expect((await hub.stored()).metadata).toMatchObject({ generation: 2, annotations: { 'example.com/other': 'yes' } });
    expect(hub.planner.asked).toHaveLength(3);
  });

  test('makes dry runs first if a breach is rolled back', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input({ rollout: { onFailure: 'ROLLBACK' } }));
    expect(hub.planner.asked.map(({ how }) => how)).toEqual(['plan']);
  });

  test('plans from the spec that the status was decided for', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input());
    const first = await hub.stored();
    const recorded = { revision: 1, digest: 'd', document: first.document as never };
    await hub.world.pumped(hub.stores.revisions.record(first, recorded, hub.context.signal));
    await hub.setStatus(done);
    await hub.propagate(input({}, { a: '2' }));
    await hub.propagate(input({}, { a: '3' }));
    const decided = hub.planner.asked.at(-1)?.request.existing?.decided;
    expect(decided?.template[0]).toMatchObject({ manifest: { data: { a: '1' } } });
  });
});

describe('an existing Propagation', () => {
  test('is paused and resumed by annotations, each once', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world } = hub;
    const nothing = { confirmPrune: false, abandon: [] };
    await hub.propagate(input());

    expect((await world.pumped(propagations.resume(context, place, nothing))).result).toBe('UNCHANGED');
    expect((await world.pumped(propagations.pause(context, place))).result).toBe('ACCEPTED');
    expect((await world.pumped(propagations.pause(context, place))).result).toBe('UNCHANGED');
    expect((await hub.stored()).metadata.annotations).toHaveProperty([marks.paused]);
    expect((await world.pumped(propagations.resume(context, place, nothing))).result).toBe('ACCEPTED');
    const { annotations, generation } = (await hub.stored()).metadata;
    expect(annotations).not.toHaveProperty([marks.paused]);
    expect(annotations[marks.resumedAt]).toMatch(/^2026-/);
    expect(generation).toBe(1);
  });

  test.each<readonly [PropagationPhase, PropagationPhase]>([
    ['Rolling', 'Paused'],
    ['Degraded', 'Paused'],
    ['Settled', 'Paused'],
    ['Held', 'Held'],
    ['Failed', 'Failed'],
  ])('shows a requested pause or resumption before its status does: %s is %s', async (phase, paused) => {
    await using hub = await startPropagations();
    const { propagations, context, world } = hub;
    await hub.propagate(input());
    await hub.setStatus({ observedGeneration: 1, phase, paused: false });
    const stopped = await world.pumped(propagations.pause(context, place));
    expect(stopped).toMatchObject({ result: 'ACCEPTED', propagation: { isPaused: true, phase: paused } });
    expect((await propagations.list(context, { phases: [paused] })).totalCount).toBe(1);

    await hub.setStatus({ observedGeneration: 1, phase: paused, paused: true });
    const gone = await world.pumped(propagations.resume(context, place, { confirmPrune: false, abandon: [] }));
    expect(gone).toMatchObject({ result: 'ACCEPTED', propagation: { isPaused: false, phase: paused === 'Paused' ? 'Rolling' : phase } });
  });

  test('stays paused by a breach until it is resumed, and by a later breach', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world } = hub;
    const breached = (lastTransitionTime: string): PropagationStatus => {
      const condition = {
        type: 'Progressing',
        status: 'False',
        reason: 'Breach',
        message: '1 cluster failed',
        lastTransitionTime,
      } as const;
      return { observedGeneration: 1, phase: 'Paused', paused: true, conditions: [{ ...condition, observedGeneration: 1 }] };
    };
    const seen = async () => {
      const view = await world.pumped(propagations.get(context, place));
      return [view?.isPaused, view?.phase];
    };
    await hub.propagate(input());
    await hub.setStatus(breached('2026-01-01T00:00:00Z'));
    expect(await seen()).toEqual([true, 'Paused']);
    await world.pumped(propagations.resume(context, place, { confirmPrune: false, abandon: [] }));
    expect(await seen()).toEqual([false, 'Rolling']);
    await hub.setStatus(breached('2027-01-01T00:00:00Z'));
    expect(await seen()).toEqual([true, 'Paused']);
  });

  test.each<{ readonly status: PropagationStatus; readonly result: string }>([
    { status: { observedGeneration: 1, phase: 'Failed' }, result: 'ACCEPTED' },
    { status: { observedGeneration: 1, phase: 'RollingBack' }, result: 'ACCEPTED' },
    { status: { observedGeneration: 1, phase: 'Degraded', clusters: [{ ...line('west'), phase: 'Denied' }] }, result: 'ACCEPTED' },
    {
      status: { observedGeneration: 1, phase: 'Rolling', clusters: [line('east'), { ...line('west'), phase: 'Failed' }] },
      result: 'ACCEPTED',
    },
    { status: { observedGeneration: 1, phase: 'Degraded', clusters: [{ ...line('west'), phase: 'Unknown' }] }, result: 'UNCHANGED' },
    { status: { observedGeneration: 1, phase: 'Settled', clusters: [line('west')] }, result: 'UNCHANGED' },
    { status: { observedGeneration: 0, phase: 'Failed' }, result: 'UNCHANGED' },
  ])('is retried by a resume or an equal request only if it has failed: $status.phase, $result', async ({ status, result }) => {
    await using hub = await startPropagations();
    const { propagations, context, world } = hub;
    await hub.propagate(input());
    await hub.setStatus(status);
    expect((await world.pumped(propagations.resume(context, place, { confirmPrune: false, abandon: [] }))).result).toBe(result);
    const { generation, annotations } = (await hub.stored()).metadata;
    expect([generation, annotations[marks.resumedAt] !== undefined]).toEqual([1, result === 'ACCEPTED']);
    await world.pass(1_000);
    expect((await hub.propagate(input())).result).toBe(result);
    expect((await hub.stored()).metadata.generation).toBe(result === 'ACCEPTED' ? 2 : 1);
  });

  test('resumes after a breach, confirms the held prune, and abandons lost clusters whose copies are all to be removed', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world } = hub;
    await hub.propagate(input());
    await hub.setStatus({ observedGeneration: 1, phase: 'Paused', paused: true, clusters: [line('a, b'), line('west')] });
    expect((await world.pumped(propagations.resume(context, place, { confirmPrune: true, abandon: [] }))).result).toBe('ACCEPTED');
    expect((await hub.stored()).metadata.annotations).not.toHaveProperty([marks.confirmPrune]);

    const prune = { digest: 'held', since: '2026-01-01T00:00:00.000Z', objects: 4, clusters: [{ cluster: 'west', digest: 'w' }] };
    await hub.setStatus({ phase: 'Held', digest: 'decided', prune, paused: false });
    const west = await hub.share('west', 'PendingDeletion');
    const ab = await hub.share('a, b', 'PendingDeletion');
    await hub.share('kept', 'Owned');
    await hub.share('hub', 'PendingDeletion');
    const resumed = await world.pumped(propagations.resume(context, place, { confirmPrune: true, abandon: ['west', 'a, b'] }));
    expect(resumed.result).toBe('ACCEPTED');
    expect((await hub.stored()).metadata.annotations).toMatchObject({
      [marks.confirmPrune]: 'held',
      [marks.abandon]: JSON.stringify({ 'a, b': ab.uid, west: west.uid }),
    });
    const unknown = await world.pumped(propagations.resume(context, place, { confirmPrune: false, abandon: ['nowhere'] }));
    expect(unknown).toMatchObject({ result: 'REFUSED', notes: [{ code: 'UNKNOWN_CLUSTER', path: 'abandon' }] });
    const kept = await world.pumped(propagations.resume(context, place, { confirmPrune: false, abandon: ['west', 'kept', 'hub'] }));
    expect(kept).toMatchObject({ result: 'REFUSED', notes: [{ code: 'INVALID' }, { code: 'INVALID' }] });
    expect(kept.notes.map(({ message }) => message.split(':', 1)[0])).toEqual(['kept', 'hub']);
  });

  test('is rolled back to the newest revision with another spec, or to the given one', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world, stores } = hub;
    const record = async (revision: number) => {
      const now = await hub.stored();
      await world.pumped(
        stores.revisions.record(now, { revision, digest: `d${revision}`, document: now.document as never }, context.signal),
      );
    };
    for (const revision of [1, 2, 3]) {
      await hub.propagate(input({}, { a: String(revision) }));
      await record(revision);
    }
    const back = await world.pumped(propagations.rollback(context, place, undefined));
    expect(back).toMatchObject({ result: 'ACCEPTED', propagation: { phase: 'Planning' } });
    expect(await hub.stored()).toMatchObject({
      metadata: { generation: 4, annotations: { [marks.rollback]: '2', [marks.rollbackGeneration]: '4' } },
      document: { template: [{ json: { data: { a: '2' } } }], requester: { user: 'gateway' } },
    });
    expect((await world.pumped(propagations.rollback(context, place, 2))).result).toBe('UNCHANGED');
    expect((await world.pumped(propagations.rollback(context, place, 1))).result).toBe('ACCEPTED');
    const missing = await world.pumped(propagations.rollback(context, place, 7));
    expect(missing).toMatchObject({
      result: 'REFUSED',
      notes: [{ path: 'revision', message: expect.stringContaining('there are 3, 2, 1') }],
    });
    expect((await world.pumped(propagations.revisions(context, place, 2))).map(({ revision }) => revision)).toEqual([3, 2]);
    await hub.propagate(input({}, { a: '9' }));
    expect((await hub.stored()).metadata.annotations).not.toHaveProperty([marks.rollback]);
    expect((await hub.stored()).metadata.annotations).not.toHaveProperty([marks.rollbackGeneration]);
  });

  test('is rolled back to a revision that was rolled back itself only if it is given', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world, stores } = hub;
    const back = (revision?: number) => world.pumped(propagations.rollback(context, place, revision));
    for (const revision of [1, 2, 3, 4]) {
      await hub.propagate(input({}, { a: revision === 3 ? '1' : String(revision) }));
      const now = await hub.stored();
      const record = { revision, digest: `d${revision}`, document: now.document as never };
      await world.pumped(stores.revisions.record(now, record, context.signal));
    }
    await world.pumped(stores.revisions.markRange(await hub.stored(), { from: 2, to: 2, as: 'rolledBack' }, context.signal));
    expect((await back()).result).toBe('ACCEPTED');
    expect((await hub.stored()).document).toMatchObject({ template: [{ json: { data: { a: '1' } } }] });
    await world.pumped(stores.revisions.markRange(await hub.stored(), { from: 4, to: 4, as: 'rolledBack' }, context.signal));
    expect(await back()).toMatchObject({ result: 'REFUSED', notes: [{ message: expect.stringContaining('was not rolled back') }] });
    expect((await back(2)).result).toBe('ACCEPTED');
    expect((await hub.stored()).document).toMatchObject({ template: [{ json: { data: { a: '2' } } }] });
  });

  test('is deleted with the given options, and shown as being deleted until it is gone', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world, stores } = hub;
    await hub.propagate(input());
    await world.pumped(stores.propagations.setFinalizer(await hub.stored(), 'present', context.signal));

    const wrong = await world.pumped(propagations.delete(context, place, { policy: 'KEEP' }));
    expect(wrong).toMatchObject({ result: 'REFUSED', notes: [{ path: 'deletion.policy' }] });
    const going = await world.pumped(propagations.delete(context, place, { policy: 'ORPHAN', cascade: 'BACKGROUND' }));
    expect(going).toMatchObject({
      result: 'ACCEPTED',
      propagation: { phase: 'Deleting', propagation: { document: { deletion: { policy: 'Orphan' } } } },
    });
    expect((await world.pumped(propagations.get(context, place)))?.phase).toBe('Deleting');
    expect((await world.pumped(propagations.delete(context, place, undefined))).result).toBe('UNCHANGED');
    expect(await hub.propagate(input())).toMatchObject({ result: 'REFUSED', notes: [{ message: expect.stringContaining('deleted') }] });

    await world.pumped(stores.propagations.setFinalizer(await hub.stored(), 'absent', context.signal));
    await world.until(async () => (await propagations.get(context, place)) === undefined);
  });

  test('is gone at once if there are no copies to remove', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input());
    expect((await hub.world.pumped(hub.propagations.delete(hub.context, place, undefined))).result).toBe('ACCEPTED');
    expect(await hub.world.pumped(hub.propagations.get(hub.context, place))).toBeUndefined();
  });

  test('is NOT_FOUND if it does not exist', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world } = hub;
    const asked = [
      propagations.pause(context, place),
      propagations.resume(context, place, { confirmPrune: false, abandon: [] }),
      propagations.rollback(context, place, undefined),
      propagations.delete(context, place, undefined),
    ];
    expect((await world.pumped(Promise.all(asked))).map(({ result }) => result)).toEqual(Array(4).fill('NOT_FOUND'));
    expect(await world.pumped(propagations.revisions(context, place, 10))).toEqual([]);
  });
});

describe('a shown Propagation', () => {
  test('is planning while the status is of an older generation', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input());
    await hub.setStatus(done);
    const phase = async () => (await hub.world.pumped(hub.propagations.get(hub.context, place)))?.phase;
    expect(await phase()).toBe('Settled');
    await hub.propagate(input({}, { a: '2' }));
    expect(await phase()).toBe('Planning');
  });

  test('is sent at every change of it and of its shares, and once when it is gone', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world, stores } = hub;
    const told: (PropagationView | undefined)[] = [];
    const following = new AbortController();
    const last = () => told.at(-1);
    await hub.propagate(input());
    await world.pumped(
      propagations.follow(context, place, { changed: (view) => told.push(view), ended: () => undefined }, following.signal),
    );
    expect(told).toHaveLength(1);

    await hub.setStatus({ ...done, clusters: [line('west')] });
    await world.until(() => last()?.phase === 'Settled');
    const { metadata } = await hub.stored();
    const entry = { key: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }, state: 'Owned', uid: 'u', health: 'Healthy' } as const;
    await world.pumped(stores.shares.save({ ...newShare(metadata, clusterName('west')), entries: [entry] }, context.signal));
    await world.until(() => last()?.objects.length === 1);
    // Health comes from the mirror, never from the inventory. west is not in the fleet.
    expect(last()?.objects).toEqual([{ cluster: 'west', entries: [{ ...entry, health: 'Unknown' }] }]);

    const before = told.length;
    await hub.propagate({ ...input(), name: 'other' });
    await world.pass(500);
    expect(told).toHaveLength(before);
    await world.pumped(propagations.delete(context, place, undefined));
    await world.until(() => last() === undefined);
    await world.pass(500);
    expect(told.filter((view) => view === undefined)).toHaveLength(1);
    following.abort();
    const after = told.length;
    await hub.propagate(input());
    expect(told).toHaveLength(after);
  });

  test('is listed by namespace and name, page by page, with the filter', async () => {
    await using hub = await startPropagations();
    const { propagations, context, world } = hub;
    for (const name of ['c', 'a', 'b', 'd'])
      await hub.propagate({ ...input({ labels: { even: String(name === 'b' || name === 'd') } }), name });
    await hub.setStatus(done, 'd');
    const page = (filter: object) => world.pumped(propagations.list(context, filter));
    const names = async (filter: object) => (await page(filter)).items.map((view) => view.propagation.metadata.name);

    const first = await page({ first: 3 });
    expect(first).toMatchObject({ totalCount: 4, hasNextPage: true, hasPreviousPage: false });
    const second = await page({ first: 3, after: first.endCursor });
    expect(second).toMatchObject({ totalCount: 4, hasNextPage: false, hasPreviousPage: true });
    expect([...first.items, ...second.items].map((view) => view.propagation.metadata.name)).toEqual(['a', 'b', 'c', 'd']);
    expect(await names({ labels: 'even=true' })).toEqual(['b', 'd']);
    expect(await names({ phases: ['Settled'] })).toEqual(['d']);
    expect(await names({ namespaces: ['elsewhere'] })).toEqual([]);

    const forged = Buffer.from(JSON.stringify(['', 'default', 'a'])).toString('base64url');
    const cursors = [forged, 'nonsense', `${first.endCursor}=`];
    for (const after of cursors)
      await expect(page({ after })).rejects.toMatchObject({ code: 'BAD_INPUT', message: 'after: expected a cursor of this list' });
    await expect(page({ after: first.endCursor, labels: 'even' })).rejects.toMatchObject({ code: 'BAD_INPUT' });
    const other = { ...context, caller: { key: 'somebody else' } };
    await expect(world.pumped(propagations.list(other, { first: 3, after: first.endCursor }))).rejects.toMatchObject({ code: 'BAD_INPUT' });
    for (const size of [0, -1, 501, 2 ** 31, 1.5]) await expect(page({ first: size })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  });
});

describe('the hub', () => {
  test('is not needed for a plan; the errors of other operations say how to configure it', async () => {
    await using hub = await startPropagations();
    const { planner, world, context } = hub;
    const without = createPropagations({
      planner,
      audit: noAudit,
      requesterOfCaller: () => ({ user: 'u', groups: [], extra: {} }),
      clock: world.clock,
    });
    expect(await without.plan(context, input())).toMatchObject({ ok: true, faults: [] });
    const wrong = await without.plan(context, input({ strict: 'yes' }));
    expect(wrong).toMatchObject({ ok: false, notes: [{ code: 'INVALID', path: 'strict' }], clusters: [] });
    const asked = [
      () => without.propagate(context, { input: input() }),
      () => without.get(context, place),
      () => without.list(context, {}),
      () => without.pause(context, place),
      () => without.revisions(context, place, 1),
      () => without.follow(context, place, { changed: () => undefined, ended: () => undefined }, context.signal),
    ];
    for (const ask of asked) await expect(ask()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('--hub') });
  });

  test('without the kinds of Muster gives an error that names the files to apply, and is used once it has the kinds', async () => {
    await using hub = await startPropagations({ bareHub: true });
    await expect(hub.propagate(input())).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('kubectl apply -f deploy/crds'),
    });
    const plan = await hub.world.pumped(hub.propagations.plan(hub.context, input()));
    expect(plan).toMatchObject({ ok: true, faults: [{ code: 'NOT_SERVED', cluster: 'hub' }] });

    for (const definition of await hubDefinitions()) hub.world.cluster('hub').define(definition);
    await hub.world.until(() => hub.stores.propagations.unavailability() === undefined);
    expect((await hub.propagate(input())).result).toBe('ACCEPTED');
  });

  test('is not named in a subscription of a caller who may not see it', async () => {
    await using hub = await startPropagations({ bareHub: true });
    const { planner, world, context, stores } = hub;
    const access: Access = { ...createLocalAccess(), maySeeCluster: () => false };
    const rights = createHubRights({ access, cluster: clusterName('hub'), kind: hubKinds.propagation });
    const requesterOfCaller = () => ({ user: 'u', groups: [], extra: {} });
    const hidden = createPropagations({ planner, hub: stores, rights, audit: noAudit, requesterOfCaller, clock: world.clock });
    const listener = { changed: () => undefined, ended: () => undefined };
    await expect(world.pumped(hidden.follow(context, place, listener, context.signal))).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'default/web may not be watched',
    });
  });

  test('that does not answer is UNAVAILABLE for current data, and other reads show the last known state', async () => {
    await using hub = await startPropagations();
    await hub.propagate(input());
    using _down = hub.world.cluster('hub').refuse();
    hub.world.cluster('hub').disconnect();
    await expect(hub.propagate(input({}, { a: '2' }))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await hub.world.until(async () => ((await hub.propagations.get(hub.context, place))?.faults.length ?? 0) > 0, 120_000);
  });
});
