import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { Found, Row } from '../load/reads.ts';
import type { GraphContext } from './context.ts';

/** The row, if there is one. Says why a null is one, where it does not mean absence. */
export function foundRow({ row, faults }: Found, { read }: GraphContext, { path }: GraphQLResolveInfo): Row | undefined {
  if (row === undefined) for (const fault of faults) read.reportFault(fault, responsePathAsArray(path));
  return row;
}
