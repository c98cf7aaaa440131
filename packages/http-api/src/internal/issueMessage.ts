/** The message of an error that lists issues. */
import { Predicate } from "effect"

/** The first issue as a sentence, and how many there are besides. `undefined` without issues. */
export const issueMessage = (code: string, details: object): string | undefined => {
  if (!Predicate.hasProperty(details, "issues") || !Array.isArray(details.issues)) return undefined
  const [first, ...others]: ReadonlyArray<{ readonly path: string; readonly message: string }> = details.issues
  if (first === undefined) return undefined
  const subject = first.path !== "" ? first.path : code === "invalid_request" ? "The request body" : "The request"
  const more = others.length === 0 ? "" : ` ${others.length} more in details.issues.`
  return `${subject} ${first.message.replace(/\.$/, "")}.${more}`
}
