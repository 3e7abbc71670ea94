/** The parts of an image's name as a container gives it. Absent parts are undefined, never empty. */
export interface ImageReference {
  /** Such as `registry.example:5000`: what stands before the first slash, if it has a dot or a colon or is `localhost`. */
  readonly registry?: string;
  readonly repository: string;
  readonly tag?: string;
  /** With its algorithm: `sha256:…`. */
  readonly digest?: string;
}

// The grammar of https://github.com/distribution/reference.
const domainComponent = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = `(?:${domainComponent}(?:\\.${domainComponent})*|\\[(?:[a-fA-F0-9:]+)\\])(?::[0-9]+)?`;
const pathComponent = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const tag = '\\w[\\w.-]{0,127}';
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const namePattern = new RegExp(`^(?:${domain}/)?${pathComponent}(?:/${pathComponent})*$`);
const tagPattern = new RegExp(`^${tag}$`);
const digestPattern = new RegExp(`^${digest}$`);
const maxLength = 1_024;

/** The parts of an image's name. Undefined if the text is none, as longer than 1,024 characters. */
export function parseImageReference(text: string): ImageReference | undefined {
  if (text.length > maxLength) return undefined;
  const [named = '', digestText, ...more] = text.split('@');
  // A colon after the last slash begins a tag; one before it, a port.
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const name = colon === -1 ? named : named.slice(0, colon);
  const tagText = colon === -1 ? undefined : named.slice(colon + 1);
  if (more.length > 0 || !namePattern.test(name)) return undefined;
  if ((tagText !== undefined && !isImageTag(tagText)) || (digestText !== undefined && !isImageDigest(digestText))) return undefined;
  return {
    ...splitRegistry(name),
    ...(tagText === undefined ? {} : { tag: tagText }),
    ...(digestText === undefined ? {} : { digest: digestText }),
  };
}

/** The name with a registry told from a repository, whatever they hold. */
export function splitRegistry(name: string): Pick<ImageReference, 'registry' | 'repository'> {
  const slash = name.indexOf('/');
  const first = name.slice(0, slash);
  const isRegistry = slash !== -1 && (/[.:]/.test(first) || first === 'localhost');
  return isRegistry ? { registry: first, repository: name.slice(slash + 1) } : { repository: name };
}

/** The name of the image. What was made of parts that do not fit is not checked. */
export function printImageReference({ registry, repository, tag: tagText, digest: digestText }: ImageReference): string {
  const name = registry === undefined ? repository : `${registry}/${repository}`;
  return `${name}${tagText === undefined ? '' : `:${tagText}`}${digestText === undefined ? '' : `@${digestText}`}`;
}

/** True for what may stand after the colon. */
export function isImageTag(text: string): boolean {
  return tagPattern.test(text);
}

/** True for what may stand after the at sign. */
export function isImageDigest(text: string): boolean {
  return digestPattern.test(text);
}
