/** A `Map` whose writes can be undone. */

/**
 * A map with an undo log. Values are immutable: `set` a new value instead of changing one.
 * Iterates in no defined order, since a rollback inserts deleted keys last.
 */
export interface MemoryMap<K, V> {
  readonly get: (key: K) => V | undefined
  readonly has: (key: K) => boolean
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  readonly values: () => MapIterator<V>
  readonly entries: () => MapIterator<[K, V]>
  readonly size: () => number
}

/** Creates a map that hands `log` a function that undoes each write, before the write. */
export const makeMemoryMap = <K, V>(log: (revert: () => void) => void): MemoryMap<K, V> => {
  const map = new Map<K, V>()
  const logOld = (key: K) => {
    if (map.has(key)) {
      const old = map.get(key) as V
      log(() => map.set(key, old))
    } else {
      log(() => map.delete(key))
    }
  }
  return {
    get: (key) => map.get(key),
    has: (key) => map.has(key),
    set: (key, value) => {
      logOld(key)
      map.set(key, value)
    },
    delete: (key) => {
      logOld(key)
      map.delete(key)
    },
    values: () => map.values(),
    entries: () => map.entries(),
    size: () => map.size
  }
}
