/**
 * Storage port of input images: until when they can be used, and until when their bytes
 * are needed. The row is written before the bytes and deleted after them, so every
 * stored object has a row. An image that a client sends with a job is stored like an
 * upload, but no other job can use it.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { ImageMime, UploadId } from "./Generation.ts"

/** Metadata of a stored image. */
export interface KeptImage {
  readonly id: UploadId
  readonly account: string
  readonly mime: ImageMime
  /** In pixels. */
  readonly width: number
  /** In pixels. */
  readonly height: number
  readonly bytes: number
  /** Until when jobs can be created with it; `null` for an image sent with a job and for a removed upload. */
  readonly usableUntil: DateTime.Utc | null
  /** Until when a job, or the request that sends the image, may need the bytes. */
  readonly keptUntil: DateTime.Utc
}

/** Extends the time for which the bytes of an image are kept. */
export interface Keep {
  readonly id: UploadId
  readonly account: string
  readonly until: DateTime.Utc
}

/** Usable uploads of an account. */
export interface UsableImages {
  readonly count: number
  /** Their length together. */
  readonly bytes: number
}

/** Stores metadata of images. A write belongs to the open unit of work; outside of one it commits by itself. */
export class ImageStore extends Context.Service<ImageStore, {
  /** Inserts new images. */
  readonly insert: (images: ReadonlyArray<KeptImage>) => Effect.Effect<void, StorageError>

  /** Locks the set of uploads of an account until the unit of work ends, so that none is inserted meanwhile. */
  readonly lockAccount: (account: string) => Effect.Effect<void, StorageError>

  /** Returns the number and the length of the uploads of the account that can be used at `at`. */
  readonly countUsable: (account: string, at: DateTime.Utc) => Effect.Effect<UsableImages, StorageError>

  /** Returns those of the uploads that belong to the account and can be used at `at`. */
  readonly findUsable: (
    account: string,
    ids: ReadonlyArray<UploadId>,
    at: DateTime.Utc
  ) => Effect.Effect<ReadonlyArray<KeptImage>, StorageError>

  /**
   * Locks images and extends `keptUntil` to at least the given time. Returns the images
   * that exist for the account, in no particular order; the bytes of the others are
   * deleted or about to be. Each id appears once in `keeps`.
   */
  readonly keep: (keeps: ReadonlyArray<Keep>) => Effect.Effect<ReadonlyArray<KeptImage>, StorageError>

  /**
   * Ends the use of an upload. Returns `Missing` if it could not be used at `at`, and
   * `Kept` if a job may need the bytes. `Dropped`: the image is claimed as by `drop`.
   */
  readonly withdraw: (
    account: string,
    id: UploadId,
    at: DateTime.Utc,
    retryAt: DateTime.Utc
  ) => Effect.Effect<"Missing" | "Kept" | "Dropped", StorageError>

  /**
   * Claims up to `limit` images whose bytes are no longer needed at `at`. The caller
   * deletes the bytes, then the rows. Claimed images can be neither used nor kept. An
   * image whose row still exists at `retryAt` can be claimed again.
   */
  readonly drop: (
    at: DateTime.Utc,
    retryAt: DateTime.Utc,
    limit: number
  ) => Effect.Effect<ReadonlyArray<UploadId>, StorageError>

  /** Deletes the rows of images whose bytes are deleted. */
  readonly delete: (ids: ReadonlyArray<UploadId>) => Effect.Effect<void, StorageError>
}>()("@kinora/generations/ImageStore") {}
