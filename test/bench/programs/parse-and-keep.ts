// The floor of holding a list: fetch it whole, JSON.parse it whole, keep it.
//   parse-and-keep.ts URL CA
import { get } from 'node:https';
import { cpuNow, cpuSince, finish, reachableBytes } from './measuring.ts';

const [url = '', ca = ''] = process.argv.slice(2);
const before = await reachableBytes();
const start = cpuNow();
const chunks: Buffer[] = await new Promise((resolve, reject) => {
  const read: Buffer[] = [];
  get(`${url}/api/v1/pods`, { ca }, (response) =>
    response.on('data', (chunk: Buffer) => read.push(chunk)).once('end', () => resolve(read)),
  ).once('error', reject);
});
const text = Buffer.concat(chunks).toString('utf8');
const parseStart = cpuNow();
const list = JSON.parse(text) as { items: unknown[] };
const parsed = cpuSince(parseStart);
const fetched = cpuSince(start);
chunks.length = 0;
const held = list.items.length;
// The floor per pod of the main thread: each item parsed by itself, as its bytes arrive.
const texts = list.items.slice(0, 2_000).map((item) => Buffer.from(JSON.stringify(item)));
const oneByOne = cpuNow();
let keys = 0;
for (const item of texts) keys += Object.keys(JSON.parse(item.toString('latin1')) as object).length;
const each = cpuSince(oneByOne);
const bytes = (await reachableBytes()) - before - text.length;
finish({
  held,
  fetchKeepCpuMs: fetched.process,
  parseMainMs: parsed.main,
  parseEachMainMs: each.main / texts.length,
  bytes,
  keys,
  kept: list.items.length,
  peakRssMb: process.resourceUsage().maxRSS / 1024,
});
