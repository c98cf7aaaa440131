/** The stored file that a client asks for. */
import { DateTime, Result } from "effect"
import { type File, type Generation, isFinal, type StoredFile } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"

/** Returns a file of a generation's result at `now`, or why it cannot be downloaded. */
export const resultFile = (
  { output, resultExpiresAt, status }: Generation,
  file: File,
  now: DateTime.Utc
): Result.Result<StoredFile, GenerationError.Refusal> => {
  if (!isFinal(status)) return Result.fail(new GenerationError.ResultNotReady({ status }))
  if (resultExpiresAt === null) return Result.fail(new GenerationError.ResultNotFound({ status }))
  if (output === null || DateTime.isLessThanOrEqualTo(resultExpiresAt, now)) {
    return Result.fail(new GenerationError.ResultExpired({ expiredAt: resultExpiresAt }))
  }
  const stored = output[file]
  return stored === null ? Result.fail(new GenerationError.ResultNotFound({ status })) : Result.succeed(stored)
}
