import { expect, test } from 'vitest';
import { transports } from '../support/clients/live-socket.ts';
import { PodReader, untilAllHold } from '../support/gateway/pod-reader.ts';
import { startGateway } from '../support/gateway/start-gateway.ts';
import { speakingNode, speakingPod } from '../support/speaking-pods.ts';
import { pod } from '../support/workloads.ts';

// "Rotated credentials keep mirrors and streams."

test.each(transports)('a rotated token in the kubeconfig keeps mirrors, and streams over %s', async (over) => {
  await using gateway = await startGateway({ north: [pod('web')] });
  const north = gateway.cluster('north');
  const reader = await PodReader.open(gateway, { over });
  await untilAllHold(gateway, [reader], { clusters: ['north'] });
  const lists = () => north.requests.filter(({ resource }) => resource?.resource === 'pods' && resource.verb === 'list').length;
  const before = lists();
  const old = north.token;
  north.rotateToken();
  await gateway.setMembers(['north']);
  await gateway.pass(7_000);
  // The API server ends each watch after some minutes. The next one uses the new token.
  north.close();
  north.put(pod('later'));
  await untilAllHold(gateway, [reader], { clusters: ['north'] });
  expect(north.token).not.toBe(old);
  expect(lists()).toBe(before);
  expect(new Set(reader.messages.map(({ type }) => type))).toEqual(new Set(['INITIAL', 'SYNCED', 'LIVE']));
});

test('a cluster whose token was refused is read again as soon as the kubeconfig has a good one', async () => {
  await using gateway = await startGateway({ north: [pod('web')] });
  const north = gateway.cluster('north');
  const reader = await PodReader.open(gateway);
  await untilAllHold(gateway, [reader], { clusters: ['north'] });
  north.rotateToken();
  north.close();
  north.put(pod('later'));
  await gateway.until(() => reader.held().behind().includes('north'));
  // Long enough for the longest backoff.
  await gateway.pass(180_000);
  await gateway.setMembers(['north']);
  await untilAllHold(gateway, [reader], { clusters: ['north'], withinMs: 8_000 });
});

test('a rotated token in the kubeconfig neither repeats nor loses lines of followed logs', async () => {
  await using gateway = await startGateway({ north: [speakingNode, speakingPod()] });
  const north = gateway.cluster('north');
  const main = { pod: 'web', container: 'main' };
  const stream = await gateway.subscribe('subscription { podLogs(tailLines: 1) { type lines { text } } }');
  const batches = () =>
    stream.seen.map(({ data }) => data?.podLogs as { readonly type: string; readonly lines: readonly { readonly text: string }[] });
  const lines = () => batches().flatMap((batch) => batch.lines.map(({ text }) => text));
  north.writeLog(main, 'one');
  await gateway.until(() => lines().includes('one'));
  north.rotateToken();
  await gateway.setMembers(['north']);
  await gateway.pass(7_000);
  north.writeLog(main, 'two', 'three', 'four');
  await gateway.until(() => lines().includes('four'));
  // The next request for the log has the new token.
  north.disconnect();
  north.writeLog(main, 'five', 'six');
  await gateway.until(() => lines().includes('six'));
  expect(lines()).toEqual(['one', 'two', 'three', 'four', 'five', 'six']);
});
