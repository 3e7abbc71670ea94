import { MusterError } from '../../core/errors.ts';
import { type LabelSelector, matchesLabelSelector, parseLabelSelector } from '../../core/selectors.ts';
import { type ApiRefusal, apiRefusal, invalidOptions, isApiRefusal, type StatusCause } from '../kinds/api-status.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { parseSimObject, type SimObject } from '../kinds/sim-object.ts';
import { type FieldTest, parseFieldSelector } from './field-selector.ts';
import { isTrueParameter } from './request-target.ts';

/** The objects that a list or watch selects. */
export interface ListSelection {
  readonly namespace: string | undefined;
  readonly labels: LabelSelector | undefined;
  readonly fields: FieldTest | undefined;
}

/** Parses the selection of a request, or returns the reason why it is invalid. */
export function parseListSelection(
  query: URLSearchParams,
  kind: SimKind,
  { namespace, name }: { readonly namespace?: string; readonly name?: string },
): ListSelection | ApiRefusal {
  const labels = readLabelSelector(query.get('labelSelector') ?? '');
  if (labels !== undefined && isApiRefusal(labels)) return labels;
  const chosen = query.get('fieldSelector') ?? '';
  const fields = parseFieldSelector(name === undefined ? chosen : `metadata.name=${name}`, kind);
  if (fields !== undefined && typeof fields !== 'function') return fields;
  return { namespace, labels, fields };
}

/** Parses a label selector, or returns a refusal. Undefined if it selects everything. */
function readLabelSelector(text: string): LabelSelector | undefined | ApiRefusal {
  try {
    const selector = parseLabelSelector(text);
    return selector.requirements.length === 0 ? undefined : selector;
  } catch (error) {
    if (error instanceof MusterError) return apiRefusal(400, `unable to parse requirement: ${error.message}`);
    throw error;
  }
}

/** True if the selection contains the object. */
export function isListed(kind: SimKind, object: SimObject, { namespace, labels, fields }: ListSelection): boolean {
  if (namespace !== undefined && object.namespace !== namespace) return false;
  if (labels !== undefined && !matchesLabelSelector(labels, object.labels)) return false;
  return fields === undefined || fields(parseSimObject(kind, object));
}

const forbiddenField = (field: string, message: string): StatusCause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${message}`,
  field,
});
const matchField = 'resourceVersionMatch';

function unsupported(match: string, supported: string): StatusCause {
  return { reason: 'FieldValueNotSupported', message: `Unsupported value: "${match}": supported values: ${supported}`, field: matchField };
}

/** Returns a refusal if the version parameters of a list are invalid, else undefined. */
export function refuseListOptions(query: URLSearchParams): ApiRefusal | undefined {
  const match = query.get(matchField) ?? '';
  const version = query.get('resourceVersion') ?? '';
  const causes: StatusCause[] = [];
  if (match !== '') {
    if (version === '') causes.push(forbiddenField(matchField, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (query.get('continue')) causes.push(forbiddenField(matchField, 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') causes.push(unsupported(match, '"Exact", "NotOlderThan", ""'));
    if (match === 'Exact' && version === '0')
      causes.push(forbiddenField(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (query.get('sendInitialEvents')) causes.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (causes.length > 0) return invalidOptions(causes);
  if (version !== '' && !/^\d+$/.test(version)) {
    return apiRefusal(
      400,
      `invalid resource version: resourceVersion: Invalid value: "${version}": strconv.ParseUint: parsing "${version}": invalid syntax`,
    );
  }
  const limit = query.get('limit') ?? '';
  return /^-?\d*$/.test(limit) ? undefined : apiRefusal(400, `strconv.ParseInt: parsing "${limit}": invalid syntax`);
}

/** Returns a refusal if the start parameters of a watch are invalid, else undefined. `streams`: the server has the feature WatchList. */
export function refuseWatchOptions(query: URLSearchParams, options: { readonly streams: boolean }): ApiRefusal | undefined {
  const match = query.get(matchField) ?? '';
  const initial = query.get('sendInitialEvents') ?? '';
  const causes: StatusCause[] = [];
  if (initial !== '' && match !== 'NotOlderThan') {
    causes.push(forbiddenField(matchField, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (initial !== '' && !options.streams) {
    const message = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    causes.push(forbiddenField('sendInitialEvents', message));
  }
  if (match !== '' && initial === '') {
    causes.push(forbiddenField(matchField, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  }
  if (match !== '' && match !== 'NotOlderThan') causes.push(unsupported(match, '"NotOlderThan"'));
  if (match !== '' && query.get('continue'))
    causes.push(forbiddenField(matchField, 'resourceVersionMatch is forbidden when continue is provided'));
  if (causes.length > 0) return invalidOptions(causes);
  const version = query.get('resourceVersion') ?? '';
  if (version === '' || /^\d+$/.test(version)) return undefined;
  return { code: 500, message: `resourceVersion: Invalid value: "${version}": strconv.ParseUint: parsing "${version}": invalid syntax` };
}

/**
 * The start of a watch. `initialEvents`: all existing objects first, at a version that is not older than `notOlderThan`. If `ends` is true,
 * a bookmark follows these objects. `after`: changes after a version. `now`: new changes only.
 */
export type WatchOrigin =
  | { readonly type: 'initialEvents'; readonly notOlderThan: number; readonly ends: boolean }
  | { readonly type: 'after'; readonly version: number }
  | { readonly type: 'now' };

export function parseWatchOrigin(query: URLSearchParams, options: { readonly streams: boolean }): WatchOrigin {
  const version = query.get('resourceVersion') ?? '';
  const initial = query.get('sendInitialEvents') ?? '';
  const isSynthetic = version === '' || version === '0';
  const bookmarks = isTrueParameter(query.get('allowWatchBookmarks'));
  if (options.streams && initial !== '') {
    if (isTrueParameter(initial)) return { type: 'initialEvents', notOlderThan: Number(version), ends: bookmarks };
    return isSynthetic ? { type: 'now' } : { type: 'after', version: Number(version) };
  }
  // Even without sendInitialEvents, a server with WatchList ends the initial events with a bookmark.
  return isSynthetic
    ? { type: 'initialEvents', notOlderThan: 0, ends: bookmarks && options.streams }
    : { type: 'after', version: Number(version) };
}
