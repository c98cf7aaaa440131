/**
 * A generator that follows a script, for tests, drills and load runs.
 *
 * Delays use the `Clock` and chances use `Random`, so tests control both. The operation
 * contains the outcome, so another process can continue like with a real provider. The
 * decisions of `Control` apply to this process only.
 */
import { Clock, Context, Deferred, Duration, Effect, Layer, Option, Random, Schema, Stream } from "effect"
import type { GenerationRequest, InputImage } from "./GenerationRequest.ts"
import * as Generator from "./Generator.ts"
import { GeneratorError, Permanent, type Reason, Transient } from "./GeneratorError.ts"
import * as Records from "./internal/Records.ts"
import * as SyntheticFile from "./internal/SyntheticFile.ts"

/** Behaviour of a request. */
export interface Script {
  /** Time from `submit` to the outcome, or `hold`: until `Control` decides. Default 0. */
  readonly delay?: Duration.Input | "hold" | undefined
  /** If longer than `delay`, each request takes a uniformly random time between the two. */
  readonly delayMax?: Duration.Input | undefined
  /** Outcome of the request. Default `succeed`. */
  readonly outcome?: "succeed" | Permanent | undefined
  /** Share of requests that end with the failure in `outcome`, 0 to 1. The others succeed. Default 1. */
  readonly failureRate?: number | undefined
  /** Size of the result in bytes, at least that of the smallest valid file. Default 4096. */
  readonly bytes?: number | undefined
  /** Parts of the output that replace those of a valid file. */
  readonly output?: Partial<Generator.Output> | undefined
  /** Failures of the first calls of `submit`, in order. */
  readonly submitErrors?: ReadonlyArray<Reason> | undefined
  /** Failures of the first calls of `poll`, in order. */
  readonly pollErrors?: ReadonlyArray<Reason> | undefined
  /** Failures of the first calls of `collect`, in order. */
  readonly collectErrors?: ReadonlyArray<Reason> | undefined
  /** Failures of the bodies of the first results, which break off half-way. */
  readonly bodyErrors?: ReadonlyArray<Reason> | undefined
}

/** Options for `layerControl`. */
export interface ScriptedOptions {
  /** Script of the requests that have none. Default: succeeds immediately. */
  readonly script?: Script | ((request: GenerationRequest) => Script) | undefined
  /** Interval between polls. Default 1 second. */
  readonly pollInterval?: Duration.Input | undefined
  /** See `Generator.resubmit`. With `unsafe`, every `submit` starts new work. Default `safe`. */
  readonly resubmit?: "safe" | "unsafe" | undefined
  /** Maximum number of recorded calls and requests. The oldest are dropped. Default 10,000. */
  readonly rememberedMax?: number | undefined
}

/** A recorded call. */
export type Call = Records.Call

/** An input image that was read to its end. */
export type ReadImage = Records.ReadImage

/** Controls the scripted generator and returns its calls. Ids are those of the requests. */
export class Control extends Context.Service<Control, {
  /** Sets the script of a request. Call it before the request is submitted. */
  readonly script: (id: string, script: Script) => Effect.Effect<void>
  /** Completes the request now, regardless of its script. Only the first decision about a request counts. */
  readonly succeed: (id: string) => Effect.Effect<void>
  /** Fails the request now, regardless of its script. Only the first decision about a request counts. */
  readonly fail: (id: string, error: Permanent) => Effect.Effect<void>
  /** Returns the calls, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<Call>>
  /** Waits until the call is recorded and returns it. Without `id`, accepts a call of any request. */
  readonly called: (method: Call["method"], id?: string) => Effect.Effect<Call>
  /** Returns the input images of a request that `submit` has read, in order. */
  readonly images: (id: string) => Effect.Effect<ReadonlyArray<ReadImage>>
  /** The generator that `layer` provides. */
  readonly generator: Generator.Generator["Service"]
}>()("@kinora/generator/ScriptedGenerator/Control") {}

/** Provides the generator of the surrounding `Control`. */
export const layer: Layer.Layer<Generator.Generator, never, Control> = Layer.effect(
  Generator.Generator,
  Effect.map(Control, ({ generator }) => generator)
)

/** Provides a `Control`, for tests. Provide `layer` with it. */
export const layerControl = (options: ScriptedOptions = {}): Layer.Layer<Control> =>
  Layer.sync(Control, () => make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const { _tag: _, ...failureFields } = Permanent.fields

const Promised = Schema.Struct({
  scripted: Schema.String,
  kind: Schema.Literals(["image", "video"]),
  /** Clock milliseconds, or `null` while the request is held. */
  dueAt: Schema.NullOr(Schema.Number),
  failure: Schema.NullOr(Schema.Struct(failureFields)),
  bytes: Schema.Number
})
type Promised = typeof Promised.Type

const cancelled = new Permanent({ code: "generation_failed", reason: null, message: "The generation was cancelled." })
const foreign = new Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "The generation is unknown."
})

/** The failure of an image whose body has another length than `bytes`. */
const unequal = new Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "An input image could not be read."
})

const make = (options: ScriptedOptions): Control["Service"] => {
  const { rememberedMax = 10_000, resubmit = "safe" } = options
  const records = Records.make<Script>(rememberedMax)
  const { called, calls, requestOf } = records
  const decide = (id: string, outcome: "succeed" | Permanent) =>
    Effect.asVoid(Effect.suspend(() => Deferred.succeed(requestOf(id).decided, outcome)))
  return Control.of({
    script: (id, script) => Effect.sync(() => void (requestOf(id).script = script)),
    succeed: (id) => decide(id, "succeed"),
    fail: decide,
    images: (id) => Effect.sync(() => requestOf(id).images),
    calls,
    called,
    generator: {
      resubmit,
      submit: makeSubmit(records, options),
      ...makeOperations(records, Duration.fromInputUnsafe(options.pollInterval ?? "1 second"))
    }
  })
}

type AllRecords = ReturnType<typeof Records.make<Script>>

const makeSubmit = ({ record, requestOf }: AllRecords, { resubmit, script: fallback = {} }: ScriptedOptions) =>
  Effect.fn("ScriptedGenerator.submit")(function*(request: GenerationRequest) {
    yield* record({ method: "submit", id: request.id })
    const known = requestOf(request.id)
    known.script ??= typeof fallback === "function" ? fallback(request) : fallback
    yield* failWithNext(known, "submitErrors")
    if (known.operation !== undefined && resubmit !== "unsafe") return known.operation
    known.images = yield* Effect.forEach(request.images, readToEnd)
    const operation = yield* promise(request, known.script)
    known.operation = operation
    return operation
  })

/** Creates the calls that continue from an operation. */
const makeOperations = ({ record, requestOf }: AllRecords, pollInterval: Duration.Duration) => {
  const poll = Effect.fn("ScriptedGenerator.poll")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return Generator.failed(foreign)
    yield* record({ method: "poll", id: promised.scripted })
    const known = requestOf(promised.scripted)
    yield* failWithNext(known, "pollErrors")
    const status = yield* statusOf(promised, known, pollInterval)
    if (status !== undefined) return status
    yield* Effect.timeoutOption(Deferred.await(known.decided), pollInterval)
    return (yield* statusOf(promised, known, pollInterval)) ?? Generator.pending(Duration.zero)
  })

  const cancel = Effect.fn("ScriptedGenerator.cancel")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return
    yield* record({ method: "cancel", id: promised.scripted })
    const known = requestOf(promised.scripted)
    const status = yield* statusOf(promised, known, pollInterval)
    if (status === undefined || status._tag === "Pending") yield* Deferred.succeed(known.decided, cancelled)
  })

  const collect = Effect.fn("ScriptedGenerator.collect")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return yield* new GeneratorError({ reason: foreign })
    yield* record({ method: "collect", id: promised.scripted })
    const known = requestOf(promised.scripted)
    yield* failWithNext(known, "collectErrors")
    const status = yield* statusOf(promised, known, pollInterval)
    if (status?._tag === "Failed") return yield* new GeneratorError({ reason: status.error })
    if (status?._tag !== "Succeeded") return yield* new GeneratorError({ reason: new Transient({}) })
    return { ...outputOf(promised, Records.nextError(known, "bodyErrors")), ...known.script?.output }
  })

  return { poll, cancel, collect }
}

/** Fails with the next unused error of a list, if there is one. */
const failWithNext = (known: Records.Known<Script>, list: Records.ErrorList) =>
  Effect.suspend(() => {
    const reason = Records.nextError(known, list)
    return reason === undefined ? Effect.void : Effect.fail(new GeneratorError({ reason }))
  })

/** Returns the status of a request, or `undefined` if it is held and not decided. */
const statusOf = Effect.fnUntraced(
  function*(promised: Promised, known: Records.Known<Script>, pollInterval: Duration.Duration) {
    const decided = yield* Deferred.poll(known.decided)
    if (Option.isSome(decided)) {
      const outcome = yield* decided.value
      return outcome === "succeed" ? Generator.succeeded : Generator.failed(outcome)
    }
    if (promised.dueAt === null) return undefined
    const left = promised.dueAt - (yield* Clock.currentTimeMillis)
    if (left > 0) return Generator.pending(Duration.min(pollInterval, Duration.millis(left)))
    return promised.failure === null ? Generator.succeeded : Generator.failed(new Permanent(promised.failure))
  }
)

/** Decides delay and outcome of a request by its script. */
const promise = Effect.fnUntraced(function*(request: GenerationRequest, script: Script) {
  const { bytes = 4096, outcome = "succeed" } = script
  const failure = outcome !== "succeed" && (yield* happens(script.failureRate ?? 1)) ? outcome : null
  const now = yield* Clock.currentTimeMillis
  const delay = yield* delayOf(script)
  const promised: Promised = {
    scripted: request.id,
    kind: request.kind,
    dueAt: delay === "hold" ? null : now + delay,
    failure: failure && { code: failure.code, reason: failure.reason, message: failure.message },
    bytes
  }
  return promised
})

const happens = (rate: number) => rate >= 1 ? Effect.succeed(true) : Effect.map(Random.next, (chance) => chance < rate)

/** Returns milliseconds. */
const delayOf = ({ delay = 0, delayMax }: Script) => {
  if (delay === "hold") return Effect.succeed(delay)
  const min = Duration.toMillis(Duration.fromInputUnsafe(delay))
  const max = delayMax === undefined ? min : Duration.toMillis(Duration.fromInputUnsafe(delayMax))
  return max > min ? Effect.map(Random.nextBetween(min, max), Math.round) : Effect.succeed(min)
}

/** Reads an image to its end, like a provider, so that a missing or truncated image is an error. */
const readToEnd = Effect.fnUntraced(function*({ body, bytes, height, mime, width }: InputImage) {
  const read = yield* Stream.runFold(body, () => 0, (total, part: Uint8Array) => total + part.length)
  if (read !== bytes) return yield* new GeneratorError({ reason: unequal })
  const image: ReadImage = { mime, width, height, bytes }
  return image
})

const decodeOption = Schema.decodeUnknownOption(Promised)
const decode = (operation: Generator.Operation): Promised | undefined => Option.getOrUndefined(decodeOption(operation))

const outputOf = ({ bytes, kind }: Promised, breaksWith: Reason | undefined): Generator.Output => {
  const file = kind === "image" ? SyntheticFile.picture(bytes) : SyntheticFile.video(bytes)
  const body: Stream.Stream<Uint8Array, GeneratorError> = Stream.fromIterable(file.parts, { chunkSize: 1 })
  return {
    ...file.facts,
    poster: kind === "video" ? SyntheticFile.frame() : undefined,
    body: breaksWith === undefined
      ? body
      : Stream.concat(Stream.take(body, file.partsTotal >> 1), Stream.fail(new GeneratorError({ reason: breaksWith })))
  }
}
