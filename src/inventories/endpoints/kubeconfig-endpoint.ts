import { type Document, isScalar, parseDocument, visit } from 'yaml';
import { isJsonObject, type Json, type JsonObject, tryParseJson } from '../../core/json.ts';
import { type CheckedEndpoint, decodeBase64, endpointFrom, InvalidValueError, type LocatedValue } from './checked-endpoint.ts';

/** Maximum bytes of a kubeconfig in a registration or in a cluster inventory. */
const maxBytes = 512 << 10;

/**
 * Maximum number of line breaks and indicators in YAML. The parser blocks the event loop for a time that grows with their number: 512 KiB of brackets or
 * comments took 2 s. The kubeconfig of one cluster has less than a hundred. Base64, which makes kubeconfigs large, has none.
 */
const maxYamlMarks = 10_000;
const yamlMarks = /[\n[\]{},:#?&*!|>]/g;

const clusterKeys = ['server', 'certificate-authority-data', 'tls-server-name'];
const userKeys = ['token', 'client-certificate-data', 'client-key-data'];

/**
 * Reads a kubeconfig that a registration or an inventory gives, in YAML or JSON. Only its current context is read. It must contain all data itself: a
 * plugin, a file, a proxy, impersonation or an unverified certificate is refused, because its author could use the rights or the network of the
 * gateway.
 *
 * @param allowPrivate Private networks in which the server may be.
 * @throws {InvalidValueError} with the path of the value, such as `users[0].user.exec`, and what was expected. The value itself is not shown.
 */
export function readKubeconfigEndpoint(bytes: Uint8Array, allowPrivate: readonly string[]): CheckedEndpoint {
  const document = parsed(bytes);
  const contextName = textAt(document, 'current-context', '');
  const context = entryNamed(document, { list: 'contexts', key: 'context', name: contextName, where: 'current-context' });
  const clusterName = textAt(context.value, 'cluster', context.where);
  const cluster = entryNamed(document, { list: 'clusters', key: 'cluster', name: clusterName, where: `${context.where}.cluster` });
  const userName = textAt(context.value, 'user', context.where);
  const user = entryNamed(document, { list: 'users', key: 'user', name: userName, where: `${context.where}.user` });
  refuseOthers(cluster, clusterKeys);
  refuseOthers(user, userKeys);
  const server = optionalText(cluster, 'server');
  if (server === undefined) throw new InvalidValueError(`${cluster.where}.server`, 'an https URL');
  return endpointFrom(
    {
      server,
      authority: optionalBytes(cluster, 'certificate-authority-data'),
      tlsServerName: optionalText(cluster, 'tls-server-name')?.value,
      token: optionalText(user, 'token'),
      certificate: optionalBytes(user, 'client-certificate-data'),
      key: optionalBytes(user, 'client-key-data'),
      credentialsPath: user.where,
      namespace: optionalText(context, 'namespace')?.value,
    },
    allowPrivate,
  );
}

function parsed(bytes: Uint8Array): JsonObject {
  if (bytes.length > maxBytes) throw new InvalidValueError('kubeconfig', `at most ${maxBytes / 1024} KiB`);
  const text = Buffer.from(bytes).toString();
  // Most systems write JSON. It is tried first, because the JSON parser is a hundred times faster.
  const value = tryParseJson(text) ?? parsedYaml(text);
  if (!isJsonObject(value)) throw new InvalidValueError('kubeconfig', 'a mapping with clusters, users and contexts');
  return value;
}

function parsedYaml(text: string): Json {
  if ((text.match(yamlMarks)?.length ?? 0) > maxYamlMarks)
    throw new InvalidValueError('kubeconfig', `JSON, or YAML with at most ${maxYamlMarks} lines, colons, commas and brackets`);
  // The parser's option `uniqueKeys` compares each two keys of a mapping: 389 KB of keys took 33 s. `hasKeyTwice` finds duplicates in linear time.
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent', uniqueKeys: false });
  if (document.errors.length > 0 || hasKeyTwice(document)) throw new InvalidValueError('kubeconfig', 'YAML or JSON');
  return yamlValueOf(document);
}

function hasKeyTwice(document: Document): boolean {
  let found = false;
  visit(document, {
    Map(_, { items }) {
      const keys = items.map(({ key }) => (isScalar(key) ? key.value : key));
      found ||= new Set(keys).size < keys.length;
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

/** Returns the value of a document. Refuses many aliases, because a small document with nested aliases may have a huge value. */
function yamlValueOf(document: Document): Json {
  try {
    return document.toJS({ maxAliasCount: 100 }) as Json;
  } catch {
    throw new InvalidValueError('kubeconfig', 'YAML without aliases, or with few of them');
  }
}

interface Entry {
  readonly value: JsonObject;
  readonly where: string;
}

interface EntryName {
  readonly list: 'contexts' | 'clusters' | 'users';
  readonly key: 'context' | 'cluster' | 'user';
  readonly name: string;
  /** The path of the value that names the entry. The message shows it if no entry has this name. */
  readonly where: string;
}

function entryNamed(document: JsonObject, { list, key, name, where }: EntryName): Entry {
  const entries = document[list] ?? [];
  if (!Array.isArray(entries)) throw new InvalidValueError(list, 'a list');
  const at = (entries as readonly Json[]).findIndex((entry) => isJsonObject(entry) && entry.name === name);
  const entry = (entries as readonly Json[])[at];
  if (!isJsonObject(entry)) throw new InvalidValueError(where, `the name of one of ${list}`);
  const value = entry[key];
  if (!isJsonObject(value)) throw new InvalidValueError(`${list}[${at}].${key}`, 'a mapping');
  return { value, where: `${list}[${at}].${key}` };
}

/** Refuses other keys. A key with the value null, false or an empty text counts as not given, as in `refuseValue`. */
function refuseOthers({ value, where }: Entry, allowed: readonly string[]): void {
  const unset: readonly unknown[] = [null, false, ''];
  const other = Object.keys(value).find((key) => !allowed.includes(key) && !unset.includes(value[key]));
  if (other !== undefined) throw new InvalidValueError(`${where}.${other}`, `nothing here: only ${allowed.join(', ')} may be given`);
}

function textAt(value: JsonObject, key: string, where: string): string {
  const text = value[key];
  if (typeof text !== 'string' || text === '') throw new InvalidValueError(where === '' ? key : `${where}.${key}`, 'a name');
  return text;
}

function optionalText({ value, where }: Entry, key: string): LocatedValue<string> | undefined {
  const text = value[key] ?? '';
  if (typeof text !== 'string') throw new InvalidValueError(`${where}.${key}`, 'text');
  return text === '' ? undefined : { value: text, where: `${where}.${key}` };
}

function optionalBytes(entry: Entry, key: string): LocatedValue<Uint8Array> | undefined {
  const text = optionalText(entry, key);
  return text === undefined ? undefined : { value: decodeBase64(text), where: text.where };
}
