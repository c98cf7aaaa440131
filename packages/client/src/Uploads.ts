/** Images that are sent once and used by jobs any number of times. */
import type { CallOptions } from "./Options.ts"
import type { Upload } from "./Wire.ts"

/** PNG, JPEG or WebP. A `File` is a `Blob`. A stream is read whole before it is sent, at most 64 MiB. */
export type ImageSource = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>

/** See `Uploads.create`. */
export interface UploadOptions extends CallOptions {
  /** The media type. Default: that of the `Blob`, else by the first bytes. */
  readonly mime?: string | undefined
}

/** Everything about uploads. */
export interface Uploads {
  /** Sends an image. Not sent again when its answer is lost, because each request makes an upload. */
  readonly create: (image: ImageSource, options?: UploadOptions) => Promise<Upload>
  /** Ends the use of an upload. Jobs that were created with it are not affected. */
  readonly delete: (id: string, options?: CallOptions) => Promise<void>
}
