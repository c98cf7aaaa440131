/**
 * State of the process, shared by all copies of this module in it: compiled promise APIs contain their own. Copies of
 * several versions may share a value, so it has no types of Effect, and its shape never changes.
 */

/** Returns the value that this process has under a name. The first call makes it. */
export const processWide = <A extends object>(name: string, make: () => A): A => {
  const values: Record<symbol, unknown> = globalThis
  return (values[Symbol.for(`@kinora/persistence/${name}`)] ??= make()) as A
}
