/** A `Map` whose writes can be undone. */
import type { MemoryMap } from "../UnitOfWork.ts"

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
    size: () => map.size
  }
}
