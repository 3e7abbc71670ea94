// npm run oracle [-- SEED [DOCUMENTS]]: compares compiled answers with those of graphql-js for random operations.
import { compareRandomOperations, type OracleCounts } from '../support/execution/random-operations.ts';

const [seedText = String(Date.now()), documentsText = '1000000'] = process.argv.slice(2);
const seed = Number(seedText);
const documents = Number(documentsText);
const step = 10_000;

console.log(`seed ${seed}, ${documents} documents`);
const total: OracleCounts = { documents: 0, compiled: 0, bailed: 0 };
for (let from = 0; from < documents; from += step) {
  const counts = await compareRandomOperations(seed + from, Math.min(step, documents - from));
  total.documents += counts.documents;
  total.compiled += counts.compiled;
  total.bailed += counts.bailed;
  if ((from / step) % 10 === 9) console.log(JSON.stringify(total));
}
console.log(JSON.stringify(total));
