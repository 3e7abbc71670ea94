import { MusterError } from '../core/errors.ts';
import { keyOfKind, unknownKindMessage } from '../core/kinds.ts';
import { nearestWord } from '../core/nearest-word.ts';
import type { Model, ModelKind } from './model.ts';

/**
 * Finds the kind by any name that kubectl accepts, in upper or lower case. The name is a kind, plural, singular, short name or type (`Pod`,
 * `pods`, `po`, `CertManagerCertificate`), alone or with its group and version (`Certificate.cert-manager.io`, `deployments.apps`,
 * `deployments.v1.apps`, `v1.pods`, `core.v1.pods`, `apps.v1.deployments`, `v1.apps.deployments`).
 *
 * If several kinds have a name without a group, built-in kinds are preferred, then kinds for which the name is not only a short name. A
 * name that is still ambiguous is refused, because the order in which clusters list groups is arbitrary.
 *
 * @throws {MusterError} `BAD_INPUT` if no kind has the name, with a suggestion, or if several kinds have it, with their full names.
 */
export function kindByAnyName(model: Model, text: string): ModelKind {
  const name = text.trim().toLowerCase();
  const all = namesIn(model).get(name) ?? [];
  const builtIn = all.filter(({ source }) => source === 'BUILT_IN');
  const candidates = builtIn.length > 0 ? builtIn : all;
  const byFullName = candidates.filter((kind) => !hasShortName(kind, name));
  const [only, ...others] = byFullName.length > 0 ? byFullName : candidates;
  if (only === undefined) throw unknownKind(model, text);
  if (others.length === 0) return only;
  const names = [only, ...others].map(keyOfKind).sort();
  throw new MusterError('BAD_INPUT', `${shown(text)} is ambiguous: expected one of ${names.join(', ')}`);
}

/**
 * The kinds of each model by all their names. Cached, because a request may name thousands of kinds. The names are collected at the first
 * request.
 */
const known = new WeakMap<Model, ReadonlyMap<string, readonly ModelKind[]>>();

function namesIn(model: Model): ReadonlyMap<string, readonly ModelKind[]> {
  const gathered = known.get(model) ?? gather([...model.kinds.values()]);
  known.set(model, gathered);
  return gathered;
}

function gather(kinds: readonly ModelKind[]): ReadonlyMap<string, readonly ModelKind[]> {
  const names = new Map<string, ModelKind[]>();
  for (const kind of kinds) {
    for (const name of new Set([kind.type.toLowerCase(), ...namesOf(kind).flatMap((own) => spellingsOf(own, kind))])) {
      const same = names.get(name);
      if (same === undefined) names.set(name, [kind]);
      else same.push(kind);
    }
  }
  return names;
}

/**
 * Returns the spellings of a name such as `deployments`: alone, with its group (`deployments.apps`), and with group and version
 * (`deployments.v1.apps`, `apps.v1.deployments`, `v1.apps.deployments`). The core group is written as `core`, or left out next to a version
 * (`pods.v1`, `v1.pods`).
 */
function spellingsOf(own: string, { group, versions }: ModelKind): readonly string[] {
  const named = group === '' ? 'core' : group;
  const qualified = versions.flatMap((version) => [
    `${own}.${version}.${named}`,
    `${named}.${version}.${own}`,
    `${version}.${named}.${own}`,
    ...(group === '' ? [`${own}.${version}`, `${version}.${own}`] : []),
  ]);
  return [own, `${own}.${named}`, ...qualified];
}

function namesOf({ kind, plural, singular, shortNames }: ModelKind): readonly string[] {
  return [kind.toLowerCase(), plural, singular, ...shortNames];
}

function hasShortName(kind: ModelKind, name: string): boolean {
  return kind.shortNames.includes(name) && ![kind.kind.toLowerCase(), kind.plural, kind.singular].includes(name);
}

function unknownKind(model: Model, text: string): MusterError {
  const names = [...model.kinds.values()].flatMap((kind) => [
    kind.kind,
    kind.plural,
    ...(kind.group === '' ? [] : [keyOfKind(kind), `${kind.plural}.${kind.group}`]),
  ]);
  const meant = nearestWord(text.slice(0, 253), names);
  return new MusterError('BAD_INPUT', unknownKindMessage(shown(text), meant));
}

function shown(text: string): string {
  return text.length === 0 ? '""' : text.slice(0, 80);
}
