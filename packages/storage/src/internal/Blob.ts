/** The options and the result of a put. */

/** Options for `put`. */
export interface PutOptions {
  /** Maximum number of bytes. */
  readonly bytesMax: number
  /** Media type of the bytes, for stores that serve them directly. */
  readonly contentType: string
}

/** A stored blob. */
export interface Blob {
  readonly key: string
  readonly bytes: number
  /** SHA-256 of the bytes in lower-case hexadecimal, usable as a strong `ETag`. */
  readonly sha256: string
  readonly contentType: string
}
