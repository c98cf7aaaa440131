/** Counts and hashes the bytes of a put, and rejects bytes beyond the limit. */
import { createHash } from "node:crypto"
import { BlobError, TooLarge } from "../BlobError.ts"
import type { Blob, PutOptions } from "./Blob.ts"

/** Counter and hash of one put. */
export interface Meter {
  /** Adds bytes. Returns the error if they exceed the limit. Do not store bytes that do. */
  readonly add: (bytes: Uint8Array) => BlobError | undefined
  /** Returns the measured blob. Call it once, after the last bytes. */
  readonly finish: () => Blob
}

/** Creates a meter for a put. */
export const make = (key: string, { bytesMax, contentType }: PutOptions): Meter => {
  const hash = createHash("sha256")
  let total = 0
  return {
    add: (bytes) => {
      total += bytes.length
      if (total > bytesMax) return new BlobError({ reason: new TooLarge({ key, bytesMax }) })
      hash.update(bytes)
      return undefined
    },
    finish: () => ({ key, bytes: total, sha256: hash.digest("hex"), contentType })
  }
}
