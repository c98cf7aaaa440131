/** Maps that drop the oldest entry. */

/** Sets an entry as the newest, and drops the oldest if the map has more than `entriesMax`. */
export const setBounded = <K, V>(map: Map<K, V>, entriesMax: number, key: K, value: V): void => {
  map.delete(key)
  map.set(key, value)
  if (map.size <= entriesMax) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
