/** The parts of a story outside of its hosts: files, the upstream, and the receiver of webhooks. */
import { GeneratorError, Generators, ScriptedGenerator } from "@kinora/generator"
import { BlobStore } from "@kinora/storage"
import { Transport } from "@kinora/webhooks"
import { type Context, Effect, Exit, Layer, type Option, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import * as SeededRandom from "../SeededRandom.ts"
import type { Shared } from "./StoryHost.ts"

/** A webhook that the receiver got. */
export interface ReceivedWebhook {
  readonly delivery: string
  readonly type: string
  readonly generation: string
  readonly isAccepted: boolean
}

/** The surroundings of a story. */
export interface Surroundings {
  readonly shared: Context.Context<Shared>
  /** Rejects the next sends. 0 accepts all. */
  readonly reject: (sends: number) => void
  readonly received: ReadonlyArray<ReceivedWebhook>
  /** Returns the keys of the files that exist. */
  readonly files: Effect.Effect<ReadonlyArray<string>>
  /** Reads a file, if it exists. */
  readonly read: (key: string) => Effect.Effect<Option.Option<Uint8Array>>
}

/** Returns the prompt of a job, which decides what the upstream does with it. */
export const promptOf = (key: number): string => prompts[key % prompts.length] ?? ""

/** Makes surroundings whose ids follow from the seed. */
export const make = Effect.fnUntraced(function*(seed: number) {
  const received: Array<ReceivedWebhook> = []
  let rejects = 0
  const receiver = Layer.succeed(Transport.Transport, {
    send: ({ body }) =>
      Effect.sync(() => {
        const isAccepted = rejects === 0
        if (!isAccepted) rejects--
        const { data, id, type } = decodeWebhook(new TextDecoder().decode(body))
        if (data.generation !== undefined) {
          received.push({ delivery: id, type, generation: data.generation.id, isAccepted })
        }
        return isAccepted ? { reason: "ok", httpStatus: 200 } : { reason: "status_500", httpStatus: 500 }
      })
  })
  const upstream = Generators.layer({ scripted: ScriptedGenerator.layer }).pipe(
    Layer.provide(ScriptedGenerator.layerControl({ script: ({ prompt }) => scripts[prompt] ?? {} }))
  )
  const keys = new Set<string>()
  const random = SeededRandom.make(seed)
  const shared = yield* Layer.build(Layer.fresh(Layer.mergeAll(
    recordingFiles(keys),
    upstream,
    receiver,
    Layer.succeed(
      SecureRandom.SecureRandom,
      SecureRandom.make((size) => Uint8Array.from({ length: size }, () => random.int(0, 255)))
    )
  )))
  const files = Effect.gen(function*() {
    const { head } = yield* BlobStore.BlobStore
    return yield* Effect.filter(Array.from(keys), (key) => Effect.map(Effect.exit(head(key)), Exit.isSuccess))
  })
  const surroundings: Surroundings = {
    shared,
    received,
    reject: (sends) => {
      rejects = sends
    },
    files: Effect.provideContext(files, shared),
    read: (key) =>
      BlobStore.BlobStore.use(({ get }) => Effect.option(Stream.mkUint8Array(get(key)))).pipe(
        Effect.provideContext(shared)
      )
  }
  return surroundings
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Behaviour of the upstream, by prompt. Files are small. */
const scripts: Readonly<Record<string, ScriptedGenerator.Script>> = {
  "at once": { bytes: 512 },
  "in 2 seconds": { bytes: 512, delay: "2 seconds" },
  "in 15 seconds": { bytes: 512, delay: "15 seconds" },
  "not at all": {
    delay: "1 second",
    outcome: new GeneratorError.Permanent({ code: "generation_failed", reason: null, message: "It failed." })
  }
}

const prompts = Object.keys(scripts)

/** A store in memory that records every key that was ever put. */
const recordingFiles = (keys: Set<string>) =>
  Layer.effect(
    BlobStore.BlobStore,
    Effect.map(BlobStore.BlobStore, (blobs) =>
      BlobStore.BlobStore.of({
        ...blobs,
        put: (key, stream, options) => {
          keys.add(key)
          return blobs.put(key, stream, options)
        }
      }))
  ).pipe(Layer.provide(BlobStore.layerMemory))

const decodeWebhook = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      id: Schema.String,
      type: Schema.String,
      /** Other events, such as those of credits, have other data. */
      data: Schema.Struct({ generation: Schema.optionalKey(Schema.Struct({ id: Schema.String })) })
    })
  )
)
