/**
 * The linters of packed packages, run in this process. Their commands would load a compiler and start it anew for each
 * package, which costs more than the checks.
 */
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"

/** Returns the problems in a tarball's manifest and files, suggestions and warnings included. */
export const inManifest = async (tarball: Buffer): Promise<ReadonlyArray<string>> => {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: new Uint8Array(tarball).buffer } })
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)
}

/** Returns the entry points (`.`, `./Ledger`, …) whose types do not resolve for ES modules or bundlers, with the reasons. */
export const inTypes = async (tarball: Buffer, entryPoints: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball), { entrypoints: [...entryPoints] })
  if (analysis.types === false) return ["The package contains no types"]
  return analysis.problems.flatMap((problem) =>
    "resolutionKind" in problem && commonJs.has(problem.resolutionKind) ? [] : [JSON.stringify(problem)]
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Resolutions that packages of ES modules do not support. */
const commonJs: ReadonlySet<string> = new Set(["node10", "node16-cjs"])
