/**
 * What is known of the bytes of input images: until when they can be used, and until
 * when they are needed. A row is written before its bytes and deleted after them, so
 * no crash leaves bytes that no row leads to. An image that came along with a
 * request is kept like an upload, but nobody else can use it.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { ImageMime, UploadId } from "./Generation.ts"

/** An image whose bytes are kept, or about to be. */
export interface KeptImage {
  readonly id: UploadId
  readonly account: string
  readonly mime: ImageMime
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
  readonly bytes: number
  /** Until when jobs can be created with it; `null` for one that came with its job, and for an upload that was removed. */
  readonly usableUntil: DateTime.Utc | null
  /** Until when a job, or the request that brings it, may need its bytes. */
  readonly keptUntil: DateTime.Utc
}

/** Asks that the bytes of an image stay. */
export interface Keep {
  readonly id: UploadId
  readonly account: string
  readonly until: DateTime.Utc
}

/** Keeps what is known of images. Every write belongs to the open unit of work, or is one of its own. */
export class ImageStore extends Context.Service<ImageStore, {
  /** Adds new images. */
  readonly insert: (images: ReadonlyArray<KeptImage>) => Effect.Effect<void, StorageError>

  /**
   * How many uploads of the account can be used at `at`. Until the unit ends nobody
   * else is told, so that who stays below a limit does not exceed it with others.
   */
  readonly countUsable: (account: string, at: DateTime.Utc) => Effect.Effect<number, StorageError>

  /** Those uploads of the account that can be used at `at`. */
  readonly findUsable: (
    account: string,
    ids: ReadonlyArray<UploadId>,
    at: DateTime.Utc
  ) => Effect.Effect<ReadonlyArray<KeptImage>, StorageError>

  /**
   * Keeps bytes at least until then, and locks what is known of them. Answers with
   * the images of the accounts named that are there, in no order: the bytes of the
   * others are deleted or about to be. An id appears once.
   */
  readonly keep: (keeps: ReadonlyArray<Keep>) => Effect.Effect<ReadonlyArray<KeptImage>, StorageError>

  /** Ends the use of an upload, if it can be used at `at`; answers whether it could. Its bytes stay as long as they are needed. */
  readonly withdraw: (account: string, id: UploadId, at: DateTime.Utc) => Effect.Effect<boolean, StorageError>

  /**
   * Gives up to `limit` images whose bytes nobody needs at `at` to the caller, who
   * is to delete the bytes and then the row. They can neither be used nor kept any
   * more. Those that are still there at `retryAt` are given out again.
   */
  readonly drop: (
    at: DateTime.Utc,
    retryAt: DateTime.Utc,
    limit: number
  ) => Effect.Effect<ReadonlyArray<UploadId>, StorageError>

  /** Forgets images whose bytes are deleted. */
  readonly delete: (ids: ReadonlyArray<UploadId>) => Effect.Effect<void, StorageError>
}>()("@kinora/generations/ImageStore") {}
