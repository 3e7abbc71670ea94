import { MusterError } from '../core/errors.ts';
import { keyOfKind } from '../core/kinds.ts';
import { nearest } from '../core/nearest.ts';
import type { Model, ModelKind } from './model.ts';

/**
 * The kind that a user means, by any name that kubectl takes, whatever the case: kind, plural, singular, short name or type (`Pod`, `pods`, `po`,
 * `CertManagerCertificate`), alone or with its group and version (`Certificate.cert-manager.io`, `deployments.apps`, `deployments.v1.apps`,
 * `v1.pods`, `core.v1.pods`, `apps.v1.deployments`, `v1.apps.deployments`).
 *
 * A name without a group that several kinds have means the built-in one, then the one whose kind, plural or singular it is. What is still
 * ambiguous is refused: which of two groups a cluster happens to list first is nothing to build on.
 *
 * @throws {MusterError} `BAD_INPUT` if no kind has the name, with what was probably meant; or if several have, with their full names.
 */
export function kindByAnyName(model: Model, text: string): ModelKind {
  const name = text.trim().toLowerCase();
  const all = [...model.kinds.values()].filter((kind) => isCalled(kind, name));
  const builtIn = all.filter(({ source }) => source === 'BUILT_IN');
  const candidates = builtIn.length > 0 ? builtIn : all;
  const byFullName = candidates.filter((kind) => !hasShortName(kind, name));
  const [only, ...others] = byFullName.length > 0 ? byFullName : candidates;
  if (only === undefined) throw unknownKind(model, text);
  if (others.length === 0) return only;
  const names = [only, ...others].map(keyOfKind).sort();
  throw new MusterError('BAD_INPUT', `${shown(text)} is ambiguous: expected one of ${names.join(', ')}`);
}

function isCalled(kind: ModelKind, name: string): boolean {
  if (name === kind.type.toLowerCase()) return true;
  return namesOf(kind).some((own) => {
    if (name === own) return true;
    if (name.startsWith(`${own}.`)) return isBehind(kind, name.slice(own.length + 1));
    return name.endsWith(`.${own}`) && isBefore(kind, name.slice(0, -own.length - 1));
  });
}

function namesOf({ kind, plural, singular, shortNames }: ModelKind): readonly string[] {
  return [kind.toLowerCase(), plural, singular, ...shortNames];
}

function hasShortName(kind: ModelKind, name: string): boolean {
  return kind.shortNames.includes(name) && ![kind.kind.toLowerCase(), kind.plural, kind.singular].includes(name);
}

/** `apps`, `v1.apps`; in the core group `core`, `v1.core`, `v1`. */
function isBehind({ group, versions }: ModelKind, qualifier: string): boolean {
  const named = group === '' ? 'core' : group;
  return qualifier === named || versions.some((version) => qualifier === `${version}.${named}` || (group === '' && qualifier === version));
}

/** `apps.v1`, `v1.apps`; in the core group `core.v1`, `v1.core`, `v1`. */
function isBefore({ group, versions }: ModelKind, qualifier: string): boolean {
  const named = group === '' ? 'core' : group;
  return versions.some(
    (version) => qualifier === `${named}.${version}` || qualifier === `${version}.${named}` || (group === '' && qualifier === version),
  );
}

function unknownKind(model: Model, text: string): MusterError {
  const names = [...model.kinds.values()].flatMap((kind) => [kind.kind, kind.plural, keyOfKind(kind), `${kind.plural}.${kind.group}`]);
  const meant = nearest(text.slice(0, 253), names);
  return new MusterError('BAD_INPUT', `no kind ${shown(text)}${meant === undefined ? '' : `; did you mean ${meant}?`}`);
}

function shown(text: string): string {
  return text.length === 0 ? '""' : text.slice(0, 80);
}
