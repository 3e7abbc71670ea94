/** The parts of an image reference. Absent parts are undefined, never empty. */
export interface ImageReference {
  /** The text before the first slash, if it contains a dot or a colon, or is `localhost`. Example: `registry.example:5000`. */
  readonly registry?: string;
  readonly repository: string;
  readonly tag?: string;
  /** The digest with its algorithm: `sha256:…`. */
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

/** Parses an image reference. Undefined if the text is not one, or has more than 1,024 characters. */
export function parseImageReference(text: string): ImageReference | undefined {
  if (text.length > maxLength) return undefined;
  const [named = '', digestText, ...more] = text.split('@');
  // A colon after the last slash starts the tag. A colon before it starts a port.
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

/** Splits a name into registry and repository. Does not validate them. */
export function splitRegistry(name: string): Pick<ImageReference, 'registry' | 'repository'> {
  const slash = name.indexOf('/');
  const first = name.slice(0, slash);
  const isRegistry = slash !== -1 && (/[.:]/.test(first) || first === 'localhost');
  return isRegistry ? { registry: first, repository: name.slice(slash + 1) } : { repository: name };
}

/** Prints an image reference. Does not check whether the parts are valid together. */
export function printImageReference({ registry, repository, tag: tagText, digest: digestText }: ImageReference): string {
  const name = registry === undefined ? repository : `${registry}/${repository}`;
  return `${name}${tagText === undefined ? '' : `:${tagText}`}${digestText === undefined ? '' : `@${digestText}`}`;
}

/** True if the text is a valid tag: the part after the colon. */
export function isImageTag(text: string): boolean {
  return tagPattern.test(text);
}

/** True if the text is a valid digest: the part after the at sign. */
export function isImageDigest(text: string): boolean {
  return digestPattern.test(text);
}
