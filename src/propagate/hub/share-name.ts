import { createHash } from 'node:crypto';

/** Of 253 characters of a name: two dots and the hash need 18, the rest is for people. */
const maxShown = 110;

/**
 * What the share of a Propagation in a cluster is called: `shop.west.3f0c…`. A valid name of at most 253 characters, whatever the cluster is called; equal
 * for equal arguments, another one for any other, also for another Propagation of the same name.
 */
export function shareNameOf(propagation: { readonly name: string; readonly uid: string }, cluster: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([propagation.uid, cluster]))
    .digest('hex')
    .slice(0, 16);
  return [namePart(propagation.name), namePart(cluster), hash].filter((part) => part !== '').join('.');
}

/** What of a text can stand in a name, between two dots. */
function namePart(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxShown);
  return plain.replace(/^-+|-+$/g, '');
}
