import { createHash } from 'node:crypto';
import type { AnsweredOperation } from './operations.ts';

/** The fields of the log's line for one request: neither document nor variables nor names of people. */
export function requestLine({
  requestId,
  transport,
  request,
  operationType,
  code,
  faults,
  tookMs,
}: AnsweredOperation): Readonly<Record<string, unknown>> {
  return {
    requestId,
    transport,
    operation: operationType ?? 'none',
    documentHash: createHash('sha256').update(request.query).digest('base64url').slice(0, 16),
    code,
    faults,
    ms: Math.round(tookMs * 1000) / 1000,
  };
}
