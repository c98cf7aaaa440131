/** A PGlite that starts with less memory. */
import { PGlite, type PGliteOptions } from "@electric-sql/pglite"
import { setFlagsFromString } from "node:v8"

/**
 * Starts a PGlite whose SQL parser is not optimized.
 *
 * V8 compiles each function of WebAssembly when it is called first, with code that counts its executions, and optimizes the
 * frequent ones. The parser is one function of 105 KB, which is frequent after a few statements: optimizing it takes 600 MB of
 * memory and half a second, more than all statements that a service ever parses gain, since it prepares them once.
 */
export const start = async (options: PGliteOptions): Promise<PGlite> => {
  const database = new SmallPglite(options)
  await database.waitReady
  return database
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

class SmallPglite extends PGlite {
  /** Has the first statement of a start. */
  override async _initArrayTypes(options?: { readonly force?: boolean }): Promise<void> {
    await compileParser(this)
    return super._initArrayTypes(options)
  }
}

/** Calls the parser first, and little else, while V8 compiles functions without code that counts. */
const compileParser = async (database: PGlite): Promise<void> => {
  for (const flag of tierUp) setFlagsFromString(`--no-${flag}`)
  try {
    await database.exec("not a statement")
  } catch {
    // The parser rejects it.
  } finally {
    for (const flag of tierUp) setFlagsFromString(`--${flag}`)
  }
}

/** Flags of V8, which are on by default. */
const tierUp = ["wasm-tier-up", "wasm-dynamic-tiering"]
