import { GenerationError, ResponseError } from "@kinora/client"

/** Text for people about a rejected `generate`. */
export const explain = (error: unknown): string => {
  if (error instanceof GenerationError) return `The job failed and was refunded: ${error.message}`
  if (error instanceof ResponseError && error.plan !== null) return `Try the other plan: ${error.code}`
  throw error
}
