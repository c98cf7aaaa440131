/** Names of kinds as they are stored: the name of the kind, and a colon and the pool if there is one. */

/** Returns the name without the pool. */
export const baseOf = (name: string): string => name.split(separator, 1)[0]!

/** Returns the pool in a name, or `undefined`. */
export const poolOf = (name: string): string | undefined => {
  const base = baseOf(name)
  return base === name ? undefined : name.slice(base.length + separator.length)
}

/** Returns the name of a kind's pool. */
export const ofPool = (base: string, pool: string): string => `${base}${separator}${pool}`

/** Names delayed jobs of all kinds in wake-ups. It begins like the name of a pool, so no kind has it. */
export const delayed = ":delayed"

/** SQL expression for `baseOf` of the column `kind`. */
export const baseInSql = "split_part(kind, ':', 1)"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const separator = ":"
