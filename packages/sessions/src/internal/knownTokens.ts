/** Tokens of sessions that a process has seen. */

/** Remembers hashes of tokens, at most a maximum, those that were used last. */
export interface KnownTokens {
  readonly has: (hash: string) => boolean
  readonly remember: (hash: string) => void
  readonly forget: (hash: string) => void
}

/** Makes an empty memory. It decides nothing but whether a token is worth a statement, so it needs no rollback. */
export const make = (max: number): KnownTokens => {
  /** In the order of their last use. */
  const hashes = new Set<string>()
  return {
    has: (hash) => hashes.has(hash),
    remember: (hash) => {
      hashes.delete(hash)
      hashes.add(hash)
      if (hashes.size <= max) return
      for (const oldest of hashes) {
        hashes.delete(oldest)
        return
      }
    },
    forget: (hash) => {
      hashes.delete(hash)
    }
  }
}
