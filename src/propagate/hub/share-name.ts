import { createHash } from 'node:crypto';

/** The maximum length of each readable part. A name has at most 253 characters. Two dots and the hash need 18 of them. */
const maxShown = 110;

/**
 * Returns the name of the share of a Propagation in a cluster: `shop.west.3f0c…`. It is a valid object name of at most 253 characters for
 * any cluster name. The name is equal for equal arguments, and differs for another uid or cluster.
 */
export function shareNameOf(propagation: { readonly name: string; readonly uid: string }, cluster: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([propagation.uid, cluster]))
    .digest('hex')
    .slice(0, 16);
  return [namePart(propagation.name), namePart(cluster), hash].filter((part) => part !== '').join('.');
}

/** Returns a text with only the characters that are allowed between two dots of an object name. */
function namePart(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxShown);
  return plain.replace(/^-+|-+$/g, '');
}
