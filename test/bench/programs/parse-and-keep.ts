// The floor of holding a list: fetches it, parses it with one JSON.parse and keeps it.
//   parse-and-keep.ts URL CA
import { get } from 'node:https';
import { cpuNow, cpuSince, finish, reachableBytes } from '../support/measuring.ts';

const [url = '', ca = ''] = process.argv.slice(2);
const before = await reachableBytes();
const list = await fetchAndParse();
const held = list.items.length;
const bytes = (await reachableBytes()) - before;
// The floor per pod on the main thread: parses each item separately, as its bytes arrive.
const texts = list.items.slice(0, 2_000).map((item) => Buffer.from(JSON.stringify(item)));
const oneByOne = cpuNow();
let keys = 0;
for (const item of texts) keys += Object.keys(JSON.parse(item.toString('latin1')) as object).length;
const each = cpuSince(oneByOne);
finish({
  held,
  fetchKeepCpuMs: list.cpuMs,
  parseEachMainMs: each.main / texts.length,
  bytes,
  keys,
  peakRssMb: process.resourceUsage().maxRSS / 1024,
});

// A separate function, so that the chunks and the text are released and only the parsed list is measured.
async function fetchAndParse(): Promise<{ items: unknown[]; cpuMs: number }> {
  const start = cpuNow();
  const chunks: Buffer[] = await new Promise((resolve, reject) => {
    const read: Buffer[] = [];
    get(`${url}/api/v1/pods`, { ca }, (response) =>
      response.on('data', (chunk: Buffer) => read.push(chunk)).once('end', () => resolve(read)),
    ).once('error', reject);
  });
  const { items } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { items: unknown[] };
  return { items, cpuMs: cpuSince(start).process };
}
