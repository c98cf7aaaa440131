/** Messages of ComfyUI's HTTP API. Fields that the driver does not read are ignored. */
import type { Kind } from "@kinora/generator/GenerationRequest"
import { Option, Schema } from "effect"

/** Response of `POST /prompt`. */
export const Submitted = Schema.Struct({ prompt_id: Schema.String })

/** Response of `POST /upload/image`. */
export const Uploaded = Schema.Struct({ name: Schema.NonEmptyString, subfolder: Schema.optionalKey(Schema.String) })

/** A prompt in the queue: its number, its id, and its content. */
const QueuedPrompt = Schema.TupleWithRest(Schema.Tuple([Schema.Unknown, Schema.String]), [Schema.Unknown])

/** Response of `GET /queue`. */
export const Queue = Schema.Struct({
  queue_running: Schema.Array(QueuedPrompt),
  queue_pending: Schema.Array(QueuedPrompt)
})

/** A prompt that has ended. Releases without `status` list prompts that succeeded only. */
const Ended = Schema.Struct({
  status: Schema.optionalKey(Schema.NullOr(Schema.Struct({ status_str: Schema.String }))),
  outputs: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown))
})
/** A prompt that has ended. */
export type Ended = typeof Ended.Type

/** Response of `GET /history/{prompt_id}`: empty until the prompt has ended. */
export const History = Schema.Record(Schema.String, Ended)

/** A file that a node saved. */
const SavedFile = Schema.Struct({
  filename: Schema.NonEmptyString,
  subfolder: Schema.optionalKey(Schema.String),
  type: Schema.String
})
/** A file that a node saved. */
export type SavedFile = typeof SavedFile.Type

/**
 * Returns the first file of this kind that the workflow saved, or `undefined`. Nodes list
 * videos under `images`, `gifs` or `videos`, so the extension decides. Previews have the type `temp`.
 */
export const savedFile = ({ outputs }: Ended, kind: Kind, node: string | null): SavedFile | undefined =>
  Object.entries(outputs)
    .filter(([id]) => node === null || id === node)
    .flatMap(([, output]) => Object.values(output))
    .flatMap((files) => Array.isArray(files) ? files : [])
    .flatMap((file) => Option.toArray(decodeFile(file)))
    .find(({ filename, type }) => type === "output" && extensions[kind].test(filename))

/** Returns the path and query of `GET /view` for a file. */
export const viewPath = ({ filename, subfolder = "", type }: SavedFile): string =>
  `/view?${new URLSearchParams({ filename, subfolder, type }).toString()}`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeFile = Schema.decodeUnknownOption(SavedFile)

const extensions: Readonly<Record<Kind, RegExp>> = { image: /\.(?:png|jpe?g|webp)$/i, video: /\.(?:mp4|webm)$/i }
