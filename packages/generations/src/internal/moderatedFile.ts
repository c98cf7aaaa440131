/** Stored files as a moderation reads them. */
import type { File } from "@kinora/moderation/Moderation"
import { unavailable } from "@kinora/moderation/ModerationError"
import type { BlobStore } from "@kinora/storage/BlobStore"
import { Effect } from "effect"
import type { StoredFile } from "../Generation.ts"
import * as StoredBytes from "./storedBytes.ts"

/** Returns a stored file. It is read when the moderation asks for it. */
export const fileOf = (
  blobs: BlobStore["Service"],
  { bytes, key, mime }: Pick<StoredFile, "key" | "mime" | "bytes">
): File => ({
  mime,
  bytes,
  read: Effect.mapError(StoredBytes.read(blobs, { bytes, key }), ({ message }) => unavailable(message))
})
