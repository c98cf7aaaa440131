/** Webhooks of a test. Each send is recorded, and its response is scripted or comes from the network. */
import { AddressGuard } from "@kinora/address-guard"
import { Webhook } from "@kinora/hosting"
import { type Delivery, Transport, Webhooks } from "@kinora/webhooks"
import { Clock, Context, DateTime, Duration, Effect, Latch, Layer, Redacted } from "effect"
import type { WebhookControls, WebhookSend } from "../Controls.ts"
import type { WebhookAnswer, WebhookOptions, WebhookRequest, WebhookScript } from "../TestHostOptions.ts"
import { VirtualTime } from "../VirtualTime.ts"

/** The recorded sends and the script of their responses. */
export class Outgoing extends Context.Service<Outgoing, {
  readonly sends: WebhookControls["sends"]
  readonly script: WebhookControls["script"]
  /** Ends sends in progress. Their time limits do not pass while the host stops. */
  readonly end: Effect.Effect<void>
}>()("@kinora/host-test/internal/webhooks/Outgoing") {}

/** The transport of webhooks and the protection of endpoints. Endpoints on the host of `baseUrl` are rejected. */
export const layer = (options: WebhookOptions, baseUrl: string) =>
  options.network === true
    ? layerNetwork.pipe(
      Layer.provide(Webhook.layerTransport),
      Layer.provideMerge(layerStillGuard),
      Layer.provideMerge(Webhook.layerProtection({ keys, allowPrivate: true }))
    )
    : Layer.mergeAll(
      layerScripted(options),
      // Compares names only: all names have the same address here.
      Webhook.layerProtection({ keys, lookup, ownDomains: [new URL(baseUrl).hostname], ownAddresses: false })
    )

/** The webhook controls of a test. `account` owns endpoints that name no account. */
export const makeControls = Effect.fnUntraced(function*(account: string) {
  const { create } = yield* Webhooks.Webhooks
  const { script, sends } = yield* Outgoing
  const controls: WebhookControls = {
    register: Effect.fn("TestHost.webhooks.register")(function*({ account: owner = account, ...endpoint }) {
      const { endpoint: { id, url }, secret } = yield* create(owner, endpoint)
      return { id, url, secret: Redacted.value(secret) }
    }),
    script,
    sends
  }
  return controls
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keys = [Redacted.make("the test host seals the secrets of endpoints so")] as const

/** Resolves every name to one public address. All other rules for endpoints apply unchanged. */
const lookup: AddressGuard.Lookup = {
  addresses: () => Effect.succeed(["1.1.1.1"]),
  aliases: () => Effect.succeed([])
}

/** Records each send and responds by script. */
const layerScripted = (options: WebhookOptions) =>
  Layer.effectContext(Effect.suspend(() => {
    let script: WebhookScript = options.script ?? {}
    const answer = (request: WebhookRequest) =>
      Effect.suspend(() => answerOf(typeof script === "function" ? script(request) : script))
    return make(answer, (next) =>
      Effect.sync(() => {
        script = next
      }))
  }))

/** Runs network work on real time, while virtual time stands still. */
const outside = Effect.map(
  VirtualTime,
  ({ still }) => <A, E>(work: Effect.Effect<A, E>) =>
    still(work).pipe(Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()))
)

/** Records each send and sends it over the network. */
const layerNetwork = Layer.effectContext(Effect.gen(function*() {
  const { send } = yield* Transport.Transport
  const wait = yield* outside
  const refuse = Effect.die(new Error("Webhooks are sent over the network here and cannot be scripted"))
  return yield* make((_, request) => wait(send(request)), () => refuse)
}))

const layerStillGuard = Layer.effect(
  AddressGuard.AddressGuard,
  Effect.gen(function*() {
    const { check } = yield* AddressGuard.AddressGuard
    const wait = yield* outside
    return AddressGuard.AddressGuard.of({ check: (url) => wait(check(url)) })
  })
)

/** Records sends and their outcomes. */
const make = Effect.fnUntraced(function*(
  answer: (seen: WebhookRequest, request: Transport.TransportRequest) => Effect.Effect<Delivery.Outcome>,
  script: WebhookControls["script"]
) {
  const { rest } = yield* VirtualTime
  const sends: Array<WebhookSend> = []
  const changed = Latch.makeUnsafe(false)
  const stopping = Latch.makeUnsafe(false)

  const send = Effect.fnUntraced(function*(request: Transport.TransportRequest) {
    const seen = seenAt(request, yield* DateTime.nowAsDate)
    const place = sends.push({ ...seen, outcome: null }) - 1
    const outcome = yield* Effect.race(answer(seen, request), Effect.as(stopping.await, undefined))
    if (outcome === undefined) return unanswered
    sends[place] = { ...seen, outcome }
    yield* changed.open
    return outcome
  })

  const all = Effect.fn("TestHost.webhooks.sends")(function*(atLeast = 0) {
    while (true) {
      yield* changed.close
      yield* rest
      if (sends.filter(({ outcome }) => outcome !== null).length >= atLeast) return [...sends]
      if (stopping.isOpen()) {
        return yield* Effect.die(new Error(`The test host stopped before there were ${atLeast} sends`))
      }
      yield* changed.await
    }
  })

  const end = Effect.andThen(stopping.open, changed.open)
  return Context.make(Outgoing, { sends: all, script, end }).pipe(Context.add(Transport.Transport, { send }))
})

/** A request as its receiver sees it. */
const seenAt = ({ body, headers, url }: Transport.TransportRequest, at: Date): WebhookRequest => ({
  url,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  body: body.slice(),
  // The product wrote this body, so its shape is known.
  event: JSON.parse(new TextDecoder().decode(body)),
  at
})

/** Time limit of a send, as over the network. */
const timeLimit = Duration.seconds(10)

const timedOut: Delivery.Outcome = { reason: "timeout", httpStatus: null }
const unanswered: Delivery.Outcome = { reason: "connect", httpStatus: null }

/** Outcome of a send that receives this response. */
const answerOf = ({ delay = 0, failure, status = 200 }: WebhookAnswer): Effect.Effect<Delivery.Outcome> =>
  (delay === "hold" ? Effect.never : Effect.clockWith((clock) => clock.sleep(Duration.fromInputUnsafe(delay)))).pipe(
    Effect.as<Delivery.Outcome>(
      failure === undefined ? { reason: reasonOf(status), httpStatus: status } : { reason: failure, httpStatus: null }
    ),
    Effect.timeoutOrElse({ duration: timeLimit, orElse: () => Effect.succeed(timedOut) })
  )

const reasonOf = (status: number): Delivery.Reason => {
  if (status >= 200 && status < 300) return "ok"
  return status < 400 ? "redirect" : `status_${status}`
}
