/**
 * Webhooks for programs without Effect.
 *
 *     const webhooks = await createWebhooks({ pool, keys: [key] })
 *     await webhooks.publish({ account: "ada", type: "parcel.shipped", data: { parcel: "P-1" }, tx })
 *     await webhooks.deliver()
 *
 * Every call has the rules of the services `Webhooks` and `DeliveryWorker`. A call throws a `WebhooksError` with a
 * `code` if it is refused, and a `StorageFailedError` if the database fails.
 */
import type { AddressGuardOptions } from "@kinora/address-guard/AddressGuard"
import type { CallOptions, Layers, Plain, Storage } from "@kinora/persistence/promise"
import { checkInputs, make, toPlain } from "@kinora/persistence/promise"
import type { StorageError } from "@kinora/persistence/StorageError"
import { DateTime, type Duration, Effect, Layer, Redacted, type Schema } from "effect"
import { type Delivery, DeliveryId, type Send } from "./Delivery.ts"
import * as DeliveryWorker from "./DeliveryWorker.ts"
import { type Endpoint, EndpointId } from "./Endpoint.ts"
import type { Event, NewEvent } from "./Event.ts"
import { errorOf } from "./internal/promise/errors.ts"
import { inputs } from "./internal/promise/inputs.ts"
import * as Wakeup from "./Wakeup.ts"
import * as Service from "./Webhooks.ts"
import type { WebhooksError as Refusal } from "./WebhooksError.ts"
import type { FailedRestarted } from "./WebhookStore.ts"

export { StorageFailedError } from "@kinora/persistence/promise"
export {
  AddressRefusedError,
  DeliveryNotFoundError,
  DeliveryPendingError,
  EndpointDisabledError,
  EndpointNotFoundError,
  OverlapInvalidError,
  TooManyEndpointsError,
  TooManySecretsError,
  TypesInvalidError,
  WebhooksError
} from "./internal/promise/errors.ts"

/** Options of `createWebhooks`: the storage, and the options of the service. */
export type CreateWebhooksOptions = Storage & Service.WebhooksOptions & {
  /** Keys that encrypt the secrets of endpoints, at least 32 bytes each. The first one seals, all open. */
  readonly keys: readonly [string, ...ReadonlyArray<string>]
  /** Rules for URLs. Default: HTTPS to public addresses on the ports 443 and 8443. */
  readonly guard?: Omit<AddressGuardOptions, "lookup"> | undefined
  /** Whether to delete old deliveries and to disable failing endpoints in the background, every 5 minutes. Default true. Any number of processes may. */
  readonly sweep?: boolean | undefined
}

/** Options of `deliver`: those of `DeliveryWorker.layerHttp`. */
export interface DeliverOptions extends Omit<DeliveryWorker.HttpWorkerOptions, "complete"> {
  /**
   * Makes the `data` of the body from an event on its first send, for example to include links that expire. It must be
   * fast. If it rejects, nothing is sent and the delivery is retried later. Default: the `data` of the event.
   */
  readonly complete?: ((event: Plain<Event>) => PromiseLike<Schema.Json> | Schema.Json) | undefined
  /** Closes the sender when it aborts. */
  readonly signal?: CallOptions["signal"]
}

/** Sends deliveries in this process. */
export interface Sender extends AsyncDisposable {
  /** Stops claiming, waits up to `grace` for the sends in flight and stores their outcomes. Idempotent. */
  readonly close: () => Promise<void>
}

interface AccountCall extends CallOptions {
  readonly account: string
}

interface EndpointCall extends AccountCall {
  readonly endpoint: string
}

/** Webhooks. The calls are those of the service `Webhooks`, whose documentation describes them. */
export interface Webhooks extends AsyncDisposable {
  /**
   * Registers an endpoint and issues its first secret. Resolves the host of the URL, so call it outside of transactions.
   * Throws `AddressRefusedError`, `TypesInvalidError` or `TooManyEndpointsError`.
   */
  readonly create: (endpoint: AccountCall & Service.NewEndpoint) => Promise<Plain<Service.Issued>>
  /** Returns the endpoints of the account, oldest first. */
  readonly list: (query: AccountCall) => Promise<ReadonlyArray<Plain<Endpoint>>>
  /** Returns an endpoint. Throws `EndpointNotFoundError`, like all calls that name an endpoint. */
  readonly get: (query: EndpointCall) => Promise<Plain<Endpoint>>
  /** Changes the URL, the filter or the status of an endpoint. */
  readonly update: (change: EndpointCall & Service.EndpointChange) => Promise<Plain<Endpoint>>
  /** Issues a new secret. The previous ones sign for `overlap` too. */
  readonly rotate: (
    command: EndpointCall & { readonly overlap?: Duration.Input | undefined }
  ) => Promise<Plain<Service.Issued>>
  /** Removes an endpoint. Its pending deliveries are not sent. */
  readonly remove: (command: EndpointCall) => Promise<void>
  /**
   * Deletes the endpoints of an account with their secrets, events, deliveries and logs. Returns the number of deliveries, lines
   * of logs and endpoints. Repeat a call that was ended early. `limit` is the maximum number of rows in one unit of work.
   * Default 1,000.
   */
  readonly forget: (command: CallOptions & Service.ForgetCommand) => Promise<number>
  /** Publishes an event to the enabled endpoints of the account that accept its type. */
  readonly publish: (event: CallOptions & NewEvent) => Promise<void>
  /** Publishes several events in one transaction. */
  readonly publishAll: (events: ReadonlyArray<NewEvent>, options?: CallOptions) => Promise<void>
  /** Sends an event of type `webhook.test` to the endpoint. Throws `EndpointDisabledError`. */
  readonly test: (command: EndpointCall) => Promise<Plain<Delivery>>
  /** Sends an ended delivery again. Throws `DeliveryNotFoundError`, `DeliveryPendingError` or `EndpointDisabledError`. */
  readonly resend: (command: AccountCall & { readonly delivery: string }) => Promise<Plain<Delivery>>
  /** Sends the failed deliveries of an endpoint since a time again, oldest first. */
  readonly resendFailed: (command: EndpointCall & { readonly since: Date }) => Promise<FailedRestarted>
  /** Returns the event of a delivery. Throws `DeliveryNotFoundError`. */
  readonly event: (query: EndpointCall & { readonly delivery: string }) => Promise<Plain<Event>>
  /** Returns a page of deliveries, newest first: the ones before a delivery, at most 100. */
  readonly deliveries: (
    query: EndpointCall & { readonly before?: string | undefined; readonly limit?: number | undefined }
  ) => Promise<ReadonlyArray<Plain<Delivery>>>
  /** Returns the log of an endpoint, newest first. */
  readonly sends: (query: EndpointCall) => Promise<ReadonlyArray<Plain<Send>>>
  /** Returns the newest deliveries of the account's events about a subject, with their sends. */
  readonly history: (query: AccountCall & { readonly subject: string }) => Promise<Plain<Service.History>>
  /** Encrypts secrets of up to `limit` endpoints with the first key. Returns the number of endpoints. */
  readonly reseal: (command: CallOptions & { readonly limit: number }) => Promise<number>
  /** Disables up to `limit` endpoints of which every send failed for `disableAfter`. Returns their number. */
  readonly disableFailing: (command: CallOptions & { readonly limit: number }) => Promise<number>
  /** Wakes the senders of this process. Call it after the commit of a transaction that published, to send at once. */
  readonly wake: () => Promise<void>
  /** Starts sending in this process, until its `close`, until `signal` aborts, or until the webhooks close. */
  readonly deliver: (options?: DeliverOptions) => Promise<Sender>
  /** Closes the senders of this process and the background work, and the connections that they have opened themselves. */
  readonly close: () => Promise<void>
}

/**
 * Creates webhooks. Brings their tables up to date first. Rejects if the database is unavailable, a newer build has removed
 * something from its tables, or a key is too short.
 */
export const createWebhooks = async (options: CreateWebhooksOptions): Promise<Webhooks> => {
  const runtime = await make(layersOf(options), options)
  const call = <A>(
    options: CallOptions,
    effect: (webhooks: Service.Webhooks["Service"]) => Effect.Effect<A, Refusal | StorageError>
  ) => runtime.run(Service.Webhooks.use(effect), options, errorOf)
  const callEndpoint = <A>(
    options: EndpointCall,
    effect: (webhooks: Service.Webhooks["Service"], id: EndpointId) => Effect.Effect<A, Refusal | StorageError>
  ) =>
    call(
      options,
      (service) => Effect.flatMap(parse(EndpointId, "an endpoint", options.endpoint), (id) => effect(service, id))
    )

  return checkInputs<Webhooks>({
    create: (endpoint) => call(endpoint, ({ create }) => create(endpoint.account, endpoint)),
    list: (query) => call(query, ({ list }) => list(query.account)),
    get: (query) => callEndpoint(query, ({ get }, id) => get(query.account, id)),
    update: (change) => callEndpoint(change, ({ update }, id) => update(change.account, id, change)),
    rotate: (command) => callEndpoint(command, ({ rotate }, id) => rotate(command.account, id, command.overlap)),
    remove: (command) => callEndpoint(command, ({ remove }, id) => remove(command.account, id)),
    forget: (command) => call(command, ({ forget }) => forget({ account: command.account, limit: command.limit })),
    publish: (event) => {
      const { signal, tx, ...published } = event
      return call({ signal, tx }, ({ publish }) => publish([published]))
    },
    publishAll: (events, options = {}) => call(options, ({ publish }) => publish(events)),
    test: (command) => callEndpoint(command, ({ test }, id) => test(command.account, id)),
    resend: (command) =>
      call(
        command,
        ({ resend }) => Effect.flatMap(parseDelivery(command.delivery), (id) => resend(command.account, id))
      ),
    resendFailed: (command) =>
      callEndpoint(
        command,
        ({ resendFailed }, id) => resendFailed(command.account, id, DateTime.fromDateUnsafe(command.since))
      ),
    event: (query) =>
      callEndpoint(
        query,
        ({ event }, id) =>
          Effect.flatMap(parseDelivery(query.delivery), (delivery) => event(query.account, id, delivery))
      ),
    deliveries: (query) =>
      callEndpoint(query, ({ deliveries }, id) => {
        const { account, limit = 100 } = query
        if (query.before === undefined) return deliveries(account, id, { limit })
        return Effect.flatMap(parseDelivery(query.before), (before) => deliveries(account, id, { limit, before }))
      }),
    sends: (query) => callEndpoint(query, ({ sends }, id) => sends(query.account, id)),
    history: (query) => call(query, ({ history }) => history(query.account, query.subject)),
    reseal: (command) => call(command, ({ reseal }) => reseal(command.limit)),
    disableFailing: (command) => call(command, ({ disableFailing }) => disableFailing(command.limit)),
    wake: () => runtime.run(Wakeup.Wakeup.use(({ wake }) => wake), {}, errorOf),
    deliver: async ({ complete, signal, ...options } = {}) => {
      const worker = DeliveryWorker.layerHttp({
        ...options,
        complete: complete && ((event) => Effect.promise(async () => complete(toPlain(event))))
      })
      const { close } = await runtime.open(Layer.build(worker), { signal }, errorOf)
      return { close, [Symbol.asyncDispose]: close }
    },
    close: runtime.close,
    [Symbol.asyncDispose]: runtime.close
  }, inputs)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layersOf = ({ keys, sweep = true, ...rest }: CreateWebhooksOptions): Layers<Service.Provided> => {
  const [first, ...others] = keys
  const options = { ...rest, keys: [Redacted.make(first), ...others.map((key) => Redacted.make(key))] as const }
  const withSweep = <E, R>(layer: Layer.Layer<Service.Provided, E, R>) =>
    sweep ? Layer.provideMerge(Service.layerSweep(), layer) : layer
  return {
    memory: withSweep(Service.layerMemory(options)),
    postgres: withSweep(Service.layerPostgres(options))
  }
}

const parse = <Id>(ids: { readonly parse: (text: string) => Id | undefined }, of: string, text: string) => {
  const id = ids.parse(text)
  return id === undefined ? Effect.die(new TypeError(`Expected the id of ${of}, got "${text}"`)) : Effect.succeed(id)
}

const parseDelivery = (text: string) => parse(DeliveryId, "a delivery", text)
