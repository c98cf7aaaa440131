/**
 * The reference of all public packages: their READMEs, and the docstrings of their exports.
 *
 * This workspace has a TypeScript of its own, since TypeDoc needs the compiler's API, which version 7 does not have.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { OptionDefaults } from "typedoc"
import { moduleComments } from "./moduleComments.js"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** The package of the console has pages and no modules. */
const hasModules = (manifest) => manifest.private !== true && "." in manifest.exports

/** @type {Partial<import("typedoc").TypeDocOptions>} */
export default {
  name: "Kinora",
  out: resolve(root, "artifacts/reference"),
  plugin: [moduleComments],
  readme: "none",
  useFirstParagraphOfCommentAsSummary: true,
  highlightLanguages: [...OptionDefaults.highlightLanguages, "sql"],
  entryPointStrategy: "packages",
  entryPoints: globSync("packages/*/package.json", { cwd: root })
    .map((path) => resolve(root, path))
    .filter((path) => hasModules(JSON.parse(readFileSync(path, "utf8"))))
    .map(dirname)
    .toSorted(),
  packageOptions: {
    entryPoints: ["src/*.ts"],
    exclude: ["src/index.ts"],
    // Members that classes inherit from Effect.
    excludeExternals: true,
    sort: ["source-order"],
    // There is no public address of the sources to link to.
    disableSources: true,
    // Links in docstrings of Effect, which members of our classes have inherited.
    externalSymbolLinkMappings: { effect: { "*": "#" } },
    // `npm run check` finds the errors of the sources.
    skipErrorChecking: true,
    validation: { notExported: false }
  },
  validation: { notExported: false, invalidLink: true },
  treatValidationWarningsAsErrors: true,
  includeVersion: true,
  navigation: { includeFolders: false }
}
