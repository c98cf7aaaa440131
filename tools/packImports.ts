/** Checks that packages load from their tarballs, and what they load of `effect`. */

/** The modules of a package. */
export interface Modules {
  readonly name: string
  /** `.`, `./Ledger`, … */
  readonly entryPoints: ReadonlyArray<string>
  /** `./internal/migrations`, … */
  readonly internals: ReadonlyArray<string>
}

/** Problems by package. */
export interface Imports {
  /** Entry points that do not load, and entry points of `effect` that the package imports. */
  readonly failed: ReadonlyMap<string, ReadonlyArray<string>>
  /** Modules that can be imported and should not. */
  readonly internals: ReadonlyMap<string, ReadonlyArray<string>>
}

/**
 * Imports all modules of the packages in one process, since most of them load the same modules of `effect`. `run` runs a
 * script with arguments where the packages are installed, and returns what it prints.
 */
export const checkImports = async (
  packages: ReadonlyArray<Modules>,
  run: (script: string, specifiers: ReadonlyArray<string>) => Promise<string>
): Promise<Imports> => {
  const specifiersOf = ({ name }: Modules, entries: ReadonlyArray<string>) =>
    entries.map((entry) => name + entry.slice(1))
  const specifiers = packages.flatMap((self) => [
    ...specifiersOf(self, self.entryPoints).filter((specifier) => !specifier.endsWith("/testing")),
    ...specifiersOf(self, self.internals)
  ])
  const output = await run(importAll, specifiers)
  // Modules may print while they load.
  const { entryPoints, outcomes: outcomeOf } = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as {
    readonly outcomes: Readonly<Record<string, string>>
    readonly entryPoints: ReadonlyArray<string>
  }
  const outcomes = new Map(Object.entries(outcomeOf))
  const problemsOf = (expected: string, entriesOf: (self: Modules) => ReadonlyArray<string>) =>
    new Map(packages.map((self) => [
      self.name,
      specifiersOf(self, entriesOf(self)).flatMap((specifier) => {
        const outcome = outcomes.get(specifier)
        return outcome === expected || outcome === undefined ? [] : [`${specifier}: ${outcome}`]
      })
    ]))
  const unloaded = problemsOf("loaded", ({ entryPoints }) => entryPoints)
  return {
    failed: new Map(packages.map(({ name }) => [
      name,
      [...unloaded.get(name)!, ...entryPoints.filter((line) => line.includes(`/node_modules/${name}/`))]
    ])),
    internals: problemsOf("ERR_PACKAGE_PATH_NOT_EXPORTED", ({ internals }) => internals)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Imports each module and prints `loaded`, or the code or the text of the error, and which modules import an entry point
 * of `effect`.
 */
const importAll = `import { registerHooks } from "node:module"
const outcomes = {}
const entryPoints = []
registerHooks({
  resolve: (specifier, context, next) => {
    if (/^effect(\\/[a-z][\\w-]*)?$/.test(specifier)) entryPoints.push(context.parentURL + " imports " + specifier)
    return next(specifier, context)
  }
})
for (const specifier of process.argv.slice(1)) {
  outcomes[specifier] = await import(specifier).then(
    () => "loaded",
    (error) => error?.code === "ERR_PACKAGE_PATH_NOT_EXPORTED" ? error.code : String(error?.stack ?? error)
  )
}
console.log(JSON.stringify({ outcomes, entryPoints }))`
