/** `kinora generate`. */
import * as KinoraClient from "@kinora/client/KinoraClient"
import type { CreateGenerationRequest, Generation } from "@kinora/client/Wire"
import { fileExtensionOf } from "@kinora/http-api/Generation"
import { Effect, FileSystem, Option, Path, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import * as Connection from "../Connection.ts"
import * as Inline from "../Inline.ts"
import { explained } from "../Operator.ts"
import * as Output from "../Output.ts"
import { Json } from "../Settings.ts"
import { given, optionalText } from "./flags.ts"

const input = {
  prompt: Argument.String("prompt").pipe(Argument.withDescription("What to generate")),
  output: Flag.String("output").pipe(
    Flag.withAlias("o"),
    Flag.withDescription("File to write. Default: the id of the job with the extension of its type"),
    Flag.optional
  ),
  model: Flag.String("model").pipe(
    Flag.withAlias("m"),
    Flag.withDescription("Id of the model"),
    Flag.withDefault("kinora-still")
  ),
  plan: Flag.Literals("plan", ["credits", "studio"]).pipe(
    Flag.withDescription("Plan group to charge"),
    Flag.withDefault("credits")
  ),
  aspectRatio: optionalText("aspect-ratio", "Such as 16:9"),
  resolution: optionalText("resolution", "Such as 2k or 720p"),
  duration: Flag.Int("duration").pipe(Flag.withDescription("Seconds of a video"), Flag.optional),
  images: Flag.String("image").pipe(
    Flag.withAlias("i"),
    Flag.withDescription("Input image: a PNG, JPEG or WebP file; can be repeated"),
    Flag.atLeast(0)
  )
}

type Input = Command.Command.Config.Infer<typeof input>

/** Connects to the service as the account of the API key. */
const connect = Effect.gen(function*() {
  const { apiKey, url } = yield* Connection.load
  if (Option.isNone(apiKey)) {
    return yield* Connection.fail("The API key is missing; set KINORA_API_KEY, or api_key in a profile.")
  }
  const fetch = yield* FetchHttpClient.Fetch
  return yield* KinoraClient.make({ baseUrl: url, apiKey: apiKey.value, fetch })
})

type Client = Effect.Success<typeof connect>

/** Uploads the input images. */
const upload = Effect.fnUntraced(function*(client: Client, files: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.forEach(files, (file) =>
    Effect.gen(function*() {
      const bytes = yield* fs.readFile(file)
      const { id } = yield* client.uploads.create(new Uint8Array(bytes))
      return { upload_id: id }
    }))
})

const requestOf = (
  { aspectRatio, duration, model, plan, prompt, resolution }: Input,
  images: ReadonlyArray<{ readonly upload_id: string }>
): CreateGenerationRequest => ({
  plan,
  model,
  params: {
    prompt,
    ...given({ aspect_ratio: aspectRatio, resolution, duration }),
    ...(images.length === 0 ? {} : { images })
  }
})

/** Shows each state of a job until it has ended. */
const follow = (client: Client, job: Generation) =>
  client.generations.events(job.id).pipe(
    Stream.tap(({ status }) => Output.progress(`${job.id} ${status}`)),
    Stream.runLast,
    Effect.map(Option.getOrElse(() => job))
  )

/** Writes the result to a file, which appears when it is complete. */
const save = Effect.fnUntraced(function*(client: Client, job: Generation, output: Option.Option<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = Option.getOrElse(output, () => `${job.id}.${fileExtensionOf(job.output?.mime ?? "")}`)
  const part = path.join(path.dirname(file), `.${path.basename(file)}.${job.id}.part`)
  yield* Stream.run(client.generations.content(job.id), fs.sink(part)).pipe(
    Effect.andThen(fs.rename(part, file)),
    Effect.onError(() => Effect.ignore(fs.remove(part)))
  )
  return file
})

/** Generates a picture or a video and writes it to a file. */
export const generateCommand = Command.make(
  "generate",
  input,
  Effect.fn("kinora generate")(function*(input: Input) {
    const client = yield* connect
    const request = requestOf(input, yield* upload(client, input.images))
    const job = yield* follow(client, yield* client.generations.create(request))
    if (job.status !== "completed") {
      return yield* Connection.fail(`${job.id} is ${job.status}: ${job.error?.message ?? "it was cancelled."}`)
    }
    const file = yield* save(client, job, input.output)
    yield* Output.show({ ...job, file }, `${job.id}  ${file}  ${costOf(job)}`)
    if (!(yield* Json)) yield* Inline.show(file, job.output?.mime ?? "")
  }, explained)
).pipe(
  Command.withDescription("Generate a picture or a video, and write it to a file"),
  Command.withExamples([
    { command: "kinora generate \"a lake at dawn\" -o lake.png", description: "A picture" },
    { command: "kinora generate \"waves\" -m kinora-motion --duration 4 -o waves.mp4", description: "A video" }
  ])
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function costOf({ cost_credits: credits, quota_kind: kind }: Generation): string {
  return credits === null ? `1 ${kind ?? "job"} of today's quota` : `${credits} credits`
}
