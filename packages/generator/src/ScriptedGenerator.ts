/**
 * A generator that does what it is told: for tests, drills and load runs.
 *
 * It takes its time from the `Clock` and its chance from `Random`, so a test
 * decides about both. What it promised travels in the operation, so another
 * process can go on polling as it would with a real provider; only what
 * `Control` is told concerns this process alone.
 */
import { Clock, Context, Deferred, Duration, Effect, Layer, Option, Random, Schema, Stream } from "effect"
import type { GenerationRequest, InputImage } from "./GenerationRequest.ts"
import * as Generator from "./Generator.ts"
import { GeneratorError, Permanent, type Reason, Transient } from "./GeneratorError.ts"
import * as Records from "./internal/Records.ts"
import * as SyntheticFile from "./internal/SyntheticFile.ts"

/** What happens to a request. */
export interface Script {
  /** From `submit` to the outcome, or `hold`: until `Control` says. Default 0. */
  readonly delay?: Duration.Input | "hold" | undefined
  /** If it is longer than `delay`: each request takes a time between the two, every one as likely. */
  readonly delayMax?: Duration.Input | undefined
  /** How it ends. Default `succeed`. */
  readonly outcome?: "succeed" | Permanent | undefined
  /** Share of the requests that end with a failure that `outcome` names, 0 to 1; the others succeed. Default 1. */
  readonly failureRate?: number | undefined
  /** Size of the result in bytes; at least what the smallest valid file takes. Default 4096. */
  readonly bytes?: number | undefined
  /** The first calls of `submit` fail like this, one after the other. */
  readonly submitErrors?: ReadonlyArray<Reason> | undefined
  /** The first calls of `poll` fail like this. */
  readonly pollErrors?: ReadonlyArray<Reason> | undefined
  /** The first calls of `collect` fail like this. */
  readonly collectErrors?: ReadonlyArray<Reason> | undefined
  /** The bodies of the first results break off half-way like this. */
  readonly bodyErrors?: ReadonlyArray<Reason> | undefined
}

/** How the generator behaves where `Control` says nothing else. */
export interface ScriptedOptions {
  /** What happens to a request. Default: it succeeds at once. */
  readonly script?: Script | ((request: GenerationRequest) => Script) | undefined
  /** How often to ask again. Default 1 second. */
  readonly pollInterval?: Duration.Input | undefined
  /** See `Generator.resubmit`. `unsafe` makes every `submit` a new piece of work, as some providers do. Default `safe`. */
  readonly resubmit?: "safe" | "unsafe" | undefined
  /** Calls and requests that are remembered; the oldest are forgotten. Default 10 000. */
  readonly rememberedMax?: number | undefined
}

/** A call that was made. */
export type Call = Records.Call

/** An input image that was read to its end. */
export type ReadImage = Records.ReadImage

/** Tells the scripted generator what to do, and what it was asked. Ids are those of the requests. */
export class Control extends Context.Service<Control, {
  /** Gives a request a script of its own. Call it before the request is submitted. */
  readonly script: (id: string, script: Script) => Effect.Effect<void>
  /** The request succeeds now, whatever its script says. The first decision about a request stands. */
  readonly succeed: (id: string) => Effect.Effect<void>
  /** The request fails now, whatever its script says. The first decision about a request stands. */
  readonly fail: (id: string, error: Permanent) => Effect.Effect<void>
  /** The calls so far, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<Call>>
  /** Waits until the call was made, if it was not made before. Without `id`, by any request. Answers with the call. */
  readonly called: (method: Call["method"], id?: string) => Effect.Effect<Call>
  /** The input images of a request, in its order, once `submit` has read them; none before. */
  readonly images: (id: string) => Effect.Effect<ReadonlyArray<ReadImage>>
  /** How the generator works; drivers' business. */
  readonly generator: Generator.Generator["Service"]
}>()("@kinora/generator/ScriptedGenerator/Control") {}

/** The generator of the surrounding `Control`. */
export const layer: Layer.Layer<Generator.Generator, never, Control> = Layer.effect(
  Generator.Generator,
  Effect.map(Control, ({ generator }) => generator)
)

/** A `Control` and the generator that it controls. */
export const layerControl = (options: ScriptedOptions = {}): Layer.Layer<Control> =>
  Layer.sync(Control, () => make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const { _tag: _, ...failureFields } = Permanent.fields

const Promised = Schema.Struct({
  scripted: Schema.String,
  kind: Schema.Literals(["image", "video"]),
  /** Clock milliseconds, or `null` while it is held. */
  dueAt: Schema.NullOr(Schema.Number),
  failure: Schema.NullOr(Schema.Struct(failureFields)),
  bytes: Schema.Number
})
type Promised = typeof Promised.Type

const cancelled = new Permanent({ code: "generation_failed", reason: null, message: "The generation was cancelled." })
const foreign = new Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "The generation is not known."
})

/** An image whose body is not as long as it says would be refused by every provider. */
const unequal = new Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "An input image could not be read."
})

const make = (options: ScriptedOptions): Control["Service"] => {
  const { rememberedMax = 10_000, resubmit = "safe", script: fallback = {} } = options
  const pollInterval = Duration.fromInputUnsafe(options.pollInterval ?? "1 second")
  const { called, calls, record, requestOf } = Records.make<Script>(rememberedMax)
  type Known = ReturnType<typeof requestOf>

  /** Fails with the next error of a list, once. */
  const meetError = (known: Known, list: Records.ErrorList) =>
    Effect.suspend(() => {
      const reason = Records.nextError(known, list)
      return reason === undefined ? Effect.void : Effect.fail(new GeneratorError({ reason }))
    })

  const submit = Effect.fn("ScriptedGenerator.submit")(function*(request: GenerationRequest) {
    yield* record({ method: "submit", id: request.id })
    const known = requestOf(request.id)
    known.script ??= typeof fallback === "function" ? fallback(request) : fallback
    yield* meetError(known, "submitErrors")
    if (known.operation !== undefined && resubmit === "safe") return known.operation
    known.images = yield* Effect.forEach(request.images, readToEnd)
    const operation = yield* promise(request, known.script)
    known.operation = operation
    return operation
  })

  const settle = Effect.fnUntraced(function*(promised: Promised, known: Known) {
    const decided = yield* Deferred.poll(known.decided)
    if (Option.isSome(decided)) {
      const outcome = yield* decided.value
      return outcome === "succeed" ? Generator.succeeded : Generator.failed(outcome)
    }
    if (promised.dueAt === null) return undefined
    const left = promised.dueAt - (yield* Clock.currentTimeMillis)
    if (left > 0) return Generator.pending(Duration.min(pollInterval, Duration.millis(left)))
    return promised.failure === null ? Generator.succeeded : Generator.failed(new Permanent(promised.failure))
  })

  const poll = Effect.fn("ScriptedGenerator.poll")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return Generator.failed(foreign)
    yield* record({ method: "poll", id: promised.scripted })
    const known = requestOf(promised.scripted)
    yield* meetError(known, "pollErrors")
    const status = yield* settle(promised, known)
    if (status !== undefined) return status
    yield* Effect.timeoutOption(Deferred.await(known.decided), pollInterval)
    return (yield* settle(promised, known)) ?? Generator.pending(Duration.zero)
  })

  const cancel = Effect.fn("ScriptedGenerator.cancel")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return
    yield* record({ method: "cancel", id: promised.scripted })
    const known = requestOf(promised.scripted)
    const status = yield* settle(promised, known)
    if (status === undefined || status._tag === "Pending") yield* Deferred.succeed(known.decided, cancelled)
  })

  const collect = Effect.fn("ScriptedGenerator.collect")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return yield* new GeneratorError({ reason: foreign })
    yield* record({ method: "collect", id: promised.scripted })
    const known = requestOf(promised.scripted)
    yield* meetError(known, "collectErrors")
    const status = yield* settle(promised, known)
    if (status?._tag === "Failed") return yield* new GeneratorError({ reason: status.error })
    if (status?._tag !== "Succeeded") return yield* new GeneratorError({ reason: new Transient({}) })
    return outputOf(promised, Records.nextError(known, "bodyErrors"))
  })

  return Control.of({
    script: (id, script) => Effect.sync(() => void (requestOf(id).script = script)),
    succeed: (id) => Effect.asVoid(Effect.suspend(() => Deferred.succeed(requestOf(id).decided, "succeed"))),
    fail: (id, error) => Effect.asVoid(Effect.suspend(() => Deferred.succeed(requestOf(id).decided, error))),
    images: (id) => Effect.sync(() => requestOf(id).images),
    calls,
    called,
    generator: { resubmit, submit, poll, cancel, collect }
  })
}

/** What a script makes of a request, chance included. */
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

/** Milliseconds. */
const delayOf = ({ delay = 0, delayMax }: Script) => {
  if (delay === "hold") return Effect.succeed(delay)
  const min = Duration.toMillis(Duration.fromInputUnsafe(delay))
  const max = delayMax === undefined ? min : Duration.toMillis(Duration.fromInputUnsafe(delayMax))
  return max > min ? Effect.map(Random.nextBetween(min, max), Math.round) : Effect.succeed(min)
}

/** Reads an image as a provider would, so that one that is missing or cut is noticed. */
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
