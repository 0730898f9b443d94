/**
 * Things that belong together.
 *
 * In:   things, and what they have in common.
 * Out:  groups in the order of their first members.
 */

export function groupBy<Key, Thing>(
  things: Iterable<Thing>,
  keyOf: (thing: Thing) => Key,
): Map<Key, Thing[]> {
  const groups = new Map<Key, Thing[]>();
  for (const thing of things) {
    const key = keyOf(thing);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [thing]);
    else members.push(thing);
  }
  return groups;
}
