// Runs one query twice, and prints its last answer and who gave each answer.
import { buildSchema, parse, validateExecutionArgs } from 'graphql';
import { testExecutor } from '../graph/executor.ts';

const schema = buildSchema('type Query { items: [Item!]! } type Item { n: Int! }');
const validated = validateExecutionArgs({ schema, document: parse('{ items { n } }'), rootValue: { items: [{ n: 1 }, { n: 2 }] } });
if (!('schema' in validated)) throw new Error('expected a valid operation');
const executor = testExecutor();
const used: string[] = [];
const newContext = (by: string) => {
  used.push(by);
  return {};
};
const attempts = { newContext, throwIfOver: () => undefined };
await executor.execute(validated, attempts);
console.log(JSON.stringify(await executor.execute(validated, attempts)), used.join());
