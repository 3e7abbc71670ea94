// Posts the same hello-world query COUNT times over eight keep-alive connections.
//   post-many.ts URL COUNT
import { Agent, request } from 'node:http';

const [url = '', count = '0'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const body = '{"query":"{ __typename }"}';
let left = Number(count);

await Promise.all(
  Array.from({ length: 8 }, async () => {
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
      { agent, method: 'POST', headers: { 'content-type': 'application/json', 'content-length': body.length } },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.resume().once('end', () => resolve());
      },
    );
    call.once('error', reject).end(body);
  });
}
