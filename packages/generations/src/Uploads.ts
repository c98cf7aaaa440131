/** Images that are sent once and used by any number of jobs (D19). */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { ImageMime, UploadId } from "./Generation.ts"
import type { UploadError } from "./UploadError.ts"

/** An image that jobs of its account can start from. */
export interface Upload {
  /** What `upload_id` of an input image names. */
  readonly id: UploadId
  readonly mime: ImageMime
  /** Length of what is kept, which is not what was sent: the image was written anew (D18). */
  readonly bytes: number
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
  /** Until when jobs can be created with it. */
  readonly expiresAt: DateTime.Utc
}

/** Takes and removes uploads. Every one belongs to the account given. */
export class Uploads extends Context.Service<Uploads, {
  /**
   * Checks, normalises and keeps an image. `declared` is the media type that the
   * client gave, if it did; it must be the one that is found.
   */
  readonly create: (
    account: string,
    bytes: Uint8Array,
    declared: string | undefined
  ) => Effect.Effect<Upload, UploadError | StorageError>

  /**
   * Ends the use of an upload at once; another time it is `UploadNotFound`. Jobs that
   * were created with it keep it until they have ended.
   */
  readonly remove: (account: string, id: string) => Effect.Effect<void, UploadError | StorageError>
}>()("@kinora/generations/Uploads") {}
