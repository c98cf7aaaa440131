/** Names what a client gets instead of its job. */
import type { GenerationError } from "@kinora/generations"
import { StorageError } from "@kinora/persistence"
import type { Exit } from "effect"

/** Name of a refusal or of an error. */
export const nameOf = (exit: Exit.Failure<unknown, { readonly _tag: string; readonly reason?: unknown }>): string => {
  const [reason] = exit.cause.reasons
  if (reason?._tag !== "Fail") return reason?._tag === "Die" ? `died: ${String(reason.defect)}` : "interrupted"
  const { error } = reason
  if (error instanceof StorageError.StorageError) return `${error._tag} ${error.reason}`
  return isTagged(error.reason) ? error.reason._tag : error._tag
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isTagged = (value: unknown): value is { readonly _tag: GenerationError.GenerationError["reason"]["_tag"] } =>
  typeof value === "object" && value !== null && "_tag" in value
