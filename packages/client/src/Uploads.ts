/** Calls about uploads: images that are sent once and used by any number of jobs. */
import type { CallOptions } from "./Options.ts"
import type { Upload } from "./Wire.ts"

/** A PNG, JPEG or WebP. A `File` is a `Blob`. A stream is read completely before it is sent, at most 64 MiB. */
export type ImageSource = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>

/** Options of `Uploads.create`. */
export interface UploadOptions extends CallOptions {
  /** Media type. Default: that of the `Blob`, else by the first bytes. */
  readonly mime?: string | undefined
}

/** Calls of `Kinora.uploads`. */
export interface Uploads {
  /** Uploads an image. A request whose response was lost is not repeated, because each request creates an upload. */
  readonly create: (image: ImageSource, options?: UploadOptions) => Promise<Upload>
  /** Deletes an upload. Jobs that were created with it are not affected. */
  readonly delete: (id: string, options?: CallOptions) => Promise<void>
}
