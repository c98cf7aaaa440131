/** Permanent failures of providers, in words that clients can act on. No text of a provider is passed on. */
import { Permanent } from "./GeneratorError.ts"

/**
 * Permanent failures of providers.
 *
 * - `auth`: it rejected the credentials.
 * - `quota`: the operator's account has no credit left.
 * - `invalid`: it rejected the prompt, the parameters or the input images.
 * - `moderated`: its content policy rejected them, or the result.
 * - `gone`: it does not have the job or the result any more.
 * - `failed`: the job failed there.
 * - `unusable`: its response or result is not what its protocol promises.
 */
export type Rejection = "auth" | "quota" | "invalid" | "moderated" | "gone" | "failed" | "unusable"

/** Creates the permanent failure of a rejection. Clients cannot act on the difference between most of them. */
export const permanent = (rejection: Rejection): Permanent => {
  switch (rejection) {
    case "auth":
    case "quota":
      return new Permanent({
        code: "upstream_error",
        reason: "internal",
        message: "The provider of the model is not available to this service. Choose another model, or try again later."
      })
    case "invalid":
      return new Permanent({
        code: "invalid_input",
        reason: "provider",
        message:
          "The provider of the model rejected the request. Change the prompt, the parameters or the input images."
      })
    case "moderated":
      return new Permanent({
        code: "content_rejected",
        reason: "safety",
        message:
          "The content policy of the model's provider rejected the request or its result. Change the prompt or the input images."
      })
    case "gone":
    case "failed":
    case "unusable":
      return new Permanent({ code: "upstream_error", reason: "provider", message: messages[rejection] })
  }
}

/** Returns the failure of a job that a provider explains by text only. It recognizes the usual words for rejected content. */
export const failureOfText = (text: unknown): Permanent =>
  permanent(typeof text === "string" && moderationText.test(text) ? "moderated" : "failed")

/** Returns the rejection that one of the codes of a response names, in lower case. */
export const rejectionOfCodes = (codes: ReadonlyArray<string>): Rejection | undefined => {
  if (codes.some((code) => moderation.test(code))) return "moderated"
  return codes.some((code) => quota.test(code)) ? "quota" : undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const messages = {
  gone: "The provider of the model no longer has the job or its result. Try again.",
  failed: "The provider of the model could not complete the job. Try again, or change the request.",
  unusable: "The provider of the model returned something that cannot be used. Try again later."
}

/** `E005` is the code of Replicate's own models. */
const moderationText = /nsfw|sensitive|\bsafety\b|content.?policy|moderat|\bE005\b/i

const moderation = /moderation|content_?policy|content_?filter|content_rejected|safety|nsfw|sensitive/
const quota = /insufficient_(?:quota|credits?|balance|funds)|quota_exceeded|billing|payment_required/
