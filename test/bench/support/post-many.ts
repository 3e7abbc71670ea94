// Posts the same query COUNT times over keep-alive connections. By default: a hello-world query over eight connections.
//   post-many.ts URL COUNT [CONNECTIONS QUERY]
import { Agent, request } from 'node:http';

const [url = '', count = '0', connections = '8', query = '{ __typename }'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const body = JSON.stringify({ query });
let left = Number(count);

await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (left > 0) {
      left -= 1;
      await post();
    }
  }),
);
agent.destroy();

function post(): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { agent, method: 'POST', headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.resume().once('end', () => resolve());
      },
    );
    call.once('error', reject).end(body);
  });
}
