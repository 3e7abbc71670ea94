import type { GraphContext } from '../../../src/graph/context/context.ts';

/** A write side for a graph that only reads. A call throws. */
export const noWrites: Pick<GraphContext, 'writes' | 'propagations' | 'imports' | 'migrations' | 'rights'> = {
  writes: neverAsked('writes'),
  propagations: neverAsked('propagations'),
  imports: neverAsked('imports'),
  migrations: neverAsked('migrations'),
  rights: neverAsked('rights'),
};

function neverAsked<T extends object>(name: string): T {
  return new Proxy({} as T, {
    get: (_target, method) => {
      throw new Error(`this graph only reads: ${name}.${String(method)} was asked`);
    },
  });
}
