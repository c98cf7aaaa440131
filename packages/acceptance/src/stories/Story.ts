/** A random story: steps of clients, hosts and operators, with faults between them. It follows from its seed. */
import * as Faults from "@kinora/testkit/Faults"
import { Arbitrary, Schema } from "effect"

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** Number of hosts of a story. Not all of them run at all times. */
export const hostsMax = 3
/** Number of accounts of a story. */
export const accountsMax = 2

/** A place for a host. */
const Place = upTo(hostsMax - 1)
/** One of the running hosts, modulo their number. */
const Host = upTo(hostsMax - 1)

/**
 * How far a clock is ahead, in milliseconds. A process with a skew above 2 seconds does not start, but the clock of one
 * that runs can still become that wrong.
 */
const Skew = Schema.Literals([0, -1_500, 1_500, -120_000, 120_000])

/** A client sends requests with these idempotency keys at once. The key also decides what the job does. */
const Create = Schema.TaggedStruct("create", {
  account: upTo(accountsMax - 1),
  keys: Schema.Array(upTo(7)).check(Schema.isMinLength(1), Schema.isMaxLength(5)),
  host: Host
})
/** A client's call about a request that was sent before, modulo their number. */
const Later = { pick: upTo(15), host: Host }
/** Which calls of a host a fault hits, and its duration. */
const faultFields = {
  host: Host,
  skip: upTo(6),
  count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 })),
  millis: Schema.Literals([20, 900, 6_000])
}
/** Calls of a host fail. */
const Fault = Schema.TaggedStruct("fault", {
  ...faultFields,
  place: Schema.Literals(["statement", "statement", "commit", "commit", "put", "get", "delete"]),
  kind: Schema.Literals(Faults.callKinds)
})
/** The bytes of files that a host writes or reads end early or come late. */
const StreamFault = Schema.TaggedStruct("fault", {
  ...faultFields,
  place: Schema.Literals(["put", "get"]),
  kind: Schema.Literals(Faults.streamKinds),
  position: Schema.Literals(Faults.positions)
})
/** A store refuses the writes of all hosts for some time. */
const Refuse = Schema.TaggedStruct("refuse", {
  store: Schema.Literals(["database", "files"]),
  kind: Schema.Literals(["readOnly", "full"]),
  millis: Schema.Literals([2_000, 20_000, 60_000])
})
/** Time passes. */
const Pass = Schema.TaggedStruct("pass", { millis: Schema.Literals([10, 500, 3_000, 12_000]) })

/** A step of a story. Frequent ones are listed several times. */
export const Step = Schema.Union([
  Create,
  Create,
  Create,
  /** A client cancels the job of a request. */
  Schema.TaggedStruct("cancel", Later),
  /** A client waits up to 2 seconds for the job of a request. */
  Schema.TaggedStruct("poll", Later),
  /** A client downloads the result of a request. */
  Schema.TaggedStruct("download", Later),
  Pass,
  Pass,
  Pass,
  /** A host starts, unless one runs at this place. */
  Schema.TaggedStruct("start", { place: Place }),
  Schema.TaggedStruct("start", { place: Place }),
  /** A host stops and drains. */
  Schema.TaggedStruct("stop", { host: Host }),
  /** A host is killed: nothing that it does has an effect any more. */
  Schema.TaggedStruct("kill", { host: Host }),
  Fault,
  Fault,
  Fault,
  Fault,
  StreamFault,
  StreamFault,
  Refuse,
  /** The receiver of webhooks responds to the next sends with 500. */
  Schema.TaggedStruct("reject", { sends: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })) })
])
/** Type of `Step`. */
export type Step = typeof Step.Type

/** A story. */
export const Story = Schema.Struct({
  /** How far the clock of each host is ahead of the database's, in milliseconds. */
  skews: Schema.Tuple([Skew, Skew, Skew]),
  steps: Schema.Array(Step).check(Schema.isMinLength(1), Schema.isMaxLength(18))
})
/** Type of `Story`. */
export type Story = typeof Story.Type

/** Random stories, and how a failing one gets shorter. */
export const arbitrary: Arbitrary.Arbitrary<Story> = Arbitrary.schema(Story)

/** Returns one line per step. */
export const format = ({ skews, steps }: Story): string =>
  [`clocks ${skews.join(" ")}`, ...steps.map((step, index) => `${index + 1}. ${formatStep(step)}`)].join("\n")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const formatStep = ({ _tag, ...fields }: Step): string =>
  [_tag, ...Object.entries(fields).map(([name, value]) => `${name}=${value}`)].join(" ")
