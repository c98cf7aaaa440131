/** A pool of `pg`, which is loaded on demand, since programs that have a pool or use memory do without. */

/** Opens a pool on the database of a URL. */
export const openPool = async (connectionString: string) => {
  // Early versions 8 have only this export.
  const { default: pg } = await import("pg")
  const pool = new pg.Pool({ connectionString })
  // The next call on a lost connection gets another one.
  pool.on("error", () => {})
  return pool
}
