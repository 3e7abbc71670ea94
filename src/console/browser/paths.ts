/** A page, with the names in its path. */
export type PageAddress =
  | { readonly page: 'fleet' | 'objects' | 'jobs' | 'propagations' | 'new-propagation' | 'unknown' }
  | { readonly page: 'kind'; readonly kind: string }
  | ({ readonly page: 'object' } & ObjectPageNames)
  | ({ readonly page: 'propagation' } & PropagationPageNames);

/** The names that lead to one object. */
export interface ObjectPageNames {
  readonly cluster: string;
  readonly kind: string;
  /** Undefined for an object without a namespace. */
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface PropagationPageNames {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the page of a path. The page is `unknown` if the console has no such path, or if its percent-encoding is not valid. */
export function addressOf(path: string): PageAddress {
  let segments: readonly string[];
  try {
    segments = path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return { page: 'unknown' };
  }
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = segments;
  switch (`${first} ${segments.length}`) {
    case ' 1':
      return { page: 'fleet' };
    case 'objects 1':
      return { page: 'objects' };
    case 'objects 2':
      return { page: 'kind', kind: second };
    case 'object 5':
      return { page: 'object', cluster: second, kind: third, namespace: fourth === '-' ? undefined : fourth, name: fifth };
    case 'jobs 1':
      return { page: 'jobs' };
    case 'propagations 1':
      return { page: 'propagations' };
    case 'propagations 2':
      return { page: second === 'new' ? 'new-propagation' : 'unknown' };
    case 'propagations 3':
      return { page: 'propagation', namespace: second, name: third };
    default:
      return { page: 'unknown' };
  }
}

/** Returns the path of the page of an object. */
export function objectPath({ cluster, kind, namespace, name }: ObjectPageNames): string {
  return `/object/${[cluster, kind, namespace ?? '-', name].map(encodeURIComponent).join('/')}`;
}

/** Returns the path of the page of a kind. The members of `state` become the query. */
export function kindPath(kind: string, state: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(state).toString();
  return `/objects/${encodeURIComponent(kind)}${query === '' ? '' : `?${query}`}`;
}

/** Returns the path of the page of a Propagation. */
export function propagationPath({ namespace, name }: PropagationPageNames): string {
  return `/propagations/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}
