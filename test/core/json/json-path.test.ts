import { expect, test } from 'vitest';
import { parseJsonPath } from '../../../src/core/json/json-path.ts';
import type { Json } from '../../../src/core/json.ts';

const value: Json = {
  spec: {
    replicas: 3,
    ports: [
      { name: 'http', port: 80, open: true },
      { name: 'dns', port: 53, open: false, tags: ['udp', 'tcp'] },
      { name: 'admin', port: 9000 },
    ],
    map: { b: 2, a: 1 },
    nothing: null,
    mixed: [
      { name: 'text', value: 'a' },
      { name: 'number', value: 2 },
    ],
  },
  metadata: { annotations: { 'example.com/team': 'shop', "it's": 'odd' } },
};

test.each<[path: string, found: readonly Json[]]>([
  ['.spec.replicas', [3]],
  ['.spec.nothing', [null]],
  ['.spec.absent', []],
  ['.spec.replicas.further', []],
  ['.spec.constructor', []],
  ['.metadata.annotations.example\\.com/team', ['shop']],
  [".metadata.annotations['example\\.com/team']", ['shop']],
  [".metadata.annotations['example.com/team']", []],
  [".spec['map.a']", [1]],
  ['.spec.ports[1:9].port', []],
  ['.spec.ports[3:].port', []],
  ['.spec.ports[0:-1].port', [80, 53]],
  ['.spec.ports[-9:].port', []],
  ['.spec.ports[2,9].port', []],
  ['.spec.ports[*].tags[*]', ['udp', 'tcp']],
  ['.spec.replicas[*]', []],
  ['.spec.mixed[?(@.value>1)].name', []],
  ['.spec.mixed[?(@.value=="a")].name', []],
  ['.spec.ports[?(@.port>1.5)].name', []],
  ['.spec.ports[?(@.open>false)].name', []],
  ['.metadata.annotations["example\\.com/team"]', ['shop']],
  ['.metadata.annotations["it\'s"]', ['odd']],
  ['.spec.ports[0].name', ['http']],
  ['.spec.ports[-1].name', ['admin']],
  ['.spec.ports[-2].name', ['dns']],
  ['.spec.ports[7].name', []],
  ['.spec.map[0]', []],
  ['.spec.ports[*].name', ['http', 'dns', 'admin']],
  ['.spec.ports.*.port', [80, 53, 9000]],
  ['.spec.map.*', [1, 2]],
  ['.spec.ports[1:].port', [53, 9000]],
  ['.spec.ports[:2].port', [80, 53]],
  ['.spec.ports[::2].port', [80, 9000]],
  ['.spec.ports[2,0].port', [9000, 80]],
  [".spec.map['a', 'b']", [1, 2]],
  ['.spec.ports[?(@.name=="dns")].port', [53]],
  [".spec.ports[?(@.name=='dns')].port", [53]],
  ['.spec.ports[?( @.port > 80 )].name', ['admin']],
  ['.spec.ports[?(@.port>=80)].name', ['http', 'admin']],
  ['.spec.ports[?(@.port<80)].name', ['dns']],
  ['.spec.ports[?(@.port<=80)].name', ['http', 'dns']],
  ['.spec.ports[?(@.port!=80)].name', ['dns', 'admin']],
  ['.spec.ports[?(80==@.port)].name', ['http']],
  ['.spec.ports[?(@.open==true)].name', ['http']],
  ['.spec.ports[?(@.open)].name', ['http', 'dns']],
  ['.spec.ports[?(@.tags[0]=="udp")].name', ['dns']],
  ['.spec.ports[?(@.port=="80")].name', []],
  ['.spec.map[?(@.a==1)]', []],
])('%s', (path, found) => {
  expect(parseJsonPath(path)?.(value)).toEqual(found);
});

test.each([
  '..name',
  '.spec..ports',
  'spec',
  '.',
  '.spec.ports[',
  '.spec.ports[]',
  '.spec.ports[?(@.name=~"a")]',
  '.spec.ports[?(@.name=="a" && @.port==1)]',
  '.spec.ports[?(process.exit(1))]',
  '.spec.ports[(@.length-1)]',
  '.spec{.replicas}',
])('%s is not understood', (path) => {
  expect(parseJsonPath(path)).toBeUndefined();
});

test('a text that means harm takes no time', () => {
  const start = performance.now();
  for (const text of [`.a${'[0'.repeat(20_000)}`, `.a[?(${'@'.repeat(20_000)}`, `.a['${"\\'".repeat(20_000)}`, `.${'a\\.'.repeat(20_000)}`])
    parseJsonPath(text);
  expect(performance.now() - start).toBeLessThan(1_000);
});

test('a list of 300,000 elements is read whole', () => {
  const list = Array.from({ length: 300_000 }, (_, index) => index % 3);
  expect(parseJsonPath('.list[*]')?.({ list })).toHaveLength(300_000);
  expect(parseJsonPath('.list[0:299999:2]')?.({ list })).toHaveLength(150_000);
  expect(parseJsonPath('.list[?(@==1)]')?.({ list })).toHaveLength(100_000);
});
