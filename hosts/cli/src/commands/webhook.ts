/** `kinora webhook`. */
import { type AdminWebhookEndpoint, overlapSecondsMax } from "@kinora/http-api/AdminWebhook"
import { EventType } from "@kinora/http-api/Webhook"
import { DateTime, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { given, intBetween, optionalText } from "./flags.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { showList } from "./page.ts"

const endpoint = Argument.String("endpoint").pipe(Argument.withDescription("Id of the endpoint, whep_…"))

const types = Flag.Literals("type", EventType.literals).pipe(
  Flag.withDescription("Event type to send; can be repeated. Default: all"),
  Flag.atLeast(0)
)

const textOf = (endpoint: AdminWebhookEndpoint & { readonly secret?: string }) =>
  Output.properties([
    ["endpoint", endpoint.id],
    ["url", endpoint.url],
    ["types", endpoint.types?.join(", ") ?? "all"],
    ["status", endpoint.status],
    ["created", Output.time(endpoint.created_at)],
    ...endpoint.secret === undefined ? [] : [["secret", endpoint.secret] as const]
  ])

const showSecret = (issued: AdminWebhookEndpoint & { readonly secret: string }) =>
  Output.show(issued, `${textOf(issued)}\nThe secret is not shown again.`)

const create = operatorCommand(
  "create",
  "Create a webhook endpoint. Its secret is printed this once",
  { account, url: Argument.String("url").pipe(Argument.withDescription("HTTPS, port 443 or 8443")), types },
  Effect.fnUntraced(function*(operator, { account, types, url }) {
    const params = { id: yield* idOf(operator, account) }
    const payload = { url, types: types.length === 0 ? null : types }
    const { body } = yield* operator.webhooks.createWebhookEndpoint({ params, payload })
    yield* showSecret(body)
  })
)

const list = operatorCommand(
  "list",
  "List the webhook endpoints",
  { account },
  Effect.fnUntraced(function*(operator, { account }) {
    const found = yield* operator.webhooks.listWebhookEndpoints({ params: { id: yield* idOf(operator, account) } })
    yield* showList(found, [
      { title: "ENDPOINT", value: ({ id }) => id },
      { title: "STATUS", value: ({ status }) => status },
      { title: "TYPES", value: ({ types }) => types?.join(",") ?? "all" },
      { title: "URL", value: ({ url }) => url }
    ], "The account has no webhook endpoints.")
  })
)

const setStatus = (name: "enable" | "disable", description: string) =>
  operatorCommand(
    name,
    description,
    { account, endpoint },
    Effect.fnUntraced(function*(operator, { account, endpoint }) {
      const params = { id: yield* idOf(operator, account), endpoint_id: endpoint }
      const updated = yield* operator.webhooks.updateWebhookEndpoint({ params, payload: { status: `${name}d` } })
      yield* Output.show(updated, textOf(updated))
    })
  )

const remove = operatorCommand(
  "delete",
  "Delete an endpoint with its deliveries",
  { account, endpoint },
  Effect.fnUntraced(function*(operator, { account, endpoint }) {
    const id = yield* idOf(operator, account)
    yield* confirm(`Delete ${endpoint} with its deliveries?`)
    yield* operator.webhooks.removeWebhookEndpoint({ params: { id, endpoint_id: endpoint } })
    yield* Output.show({ id: endpoint, deleted: true }, `${endpoint} is deleted.`)
  })
)

const rotate = operatorCommand(
  "rotate",
  "Create a new secret, which is printed this once",
  {
    account,
    endpoint,
    overlap: intBetween("overlap", "Seconds in which both secrets sign", {
      minimum: 0,
      maximum: overlapSecondsMax,
      usual: 0
    })
  },
  Effect.fnUntraced(function*(operator, { account, endpoint, overlap }) {
    const params = { id: yield* idOf(operator, account), endpoint_id: endpoint }
    const { body } = yield* operator.webhooks.rotateWebhookSecret({ params, payload: { overlap_seconds: overlap } })
    yield* showSecret(body)
  })
)

const test = operatorCommand(
  "test",
  "Send a test event",
  { account, endpoint },
  Effect.fnUntraced(function*(operator, input) {
    const params = { id: yield* idOf(operator, input.account), endpoint_id: input.endpoint }
    const delivery = yield* operator.webhooks.testWebhookEndpoint({ params })
    yield* Output.show(delivery, `The delivery is ${delivery.id}; see kinora webhook sends.`)
  })
)

const sends = operatorCommand(
  "sends",
  "List the last attempts",
  { account, endpoint },
  Effect.fnUntraced(function*(operator, input) {
    const params = { id: yield* idOf(operator, input.account), endpoint_id: input.endpoint }
    const found = yield* operator.webhooks.listWebhookSends({ params })
    yield* showList(found, [
      { title: "TIME", value: ({ at }) => Output.time(at) },
      { title: "DELIVERY", value: (send) => send.delivery_id },
      { title: "TYPE", value: ({ type }) => type },
      { title: "ATTEMPT", value: ({ attempt }) => attempt, isNumber: true },
      { title: "OUTCOME", value: ({ reason }) => reason },
      { title: "MS", value: (send) => send.duration_ms, isNumber: true }
    ], "Nothing was sent.")
  })
)

const deliveries = operatorCommand(
  "deliveries",
  "List deliveries, newest first",
  {
    account,
    endpoint,
    before: optionalText("before", "Only deliveries before this one")
  },
  Effect.fnUntraced(function*(operator, { account, before, endpoint }) {
    const found = yield* operator.webhooks.listWebhookDeliveries({
      params: { id: yield* idOf(operator, account), endpoint_id: endpoint },
      query: given({ before })
    })
    yield* showList(found, [
      { title: "DELIVERY", value: ({ id }) => id },
      { title: "TYPE", value: ({ type }) => type },
      { title: "JOB", value: ({ subject }) => subject ?? "-" },
      { title: "STATUS", value: ({ status }) => status },
      { title: "FAILED", value: (delivery) => delivery.failed_sends, isNumber: true },
      { title: "CREATED", value: (delivery) => Output.time(delivery.created_at) },
      { title: "NEXT ATTEMPT", value: (delivery) => Output.time(delivery.due_at) }
    ], "There are no deliveries.")
  })
)

const delivery = Argument.String("delivery").pipe(Argument.withDescription("Id of the delivery, dlv_…"))

const payload = operatorCommand(
  "payload",
  "Print the body of a delivery as it would be sent now",
  { account, endpoint, delivery },
  Effect.fnUntraced(function*(operator, { account, delivery, endpoint }) {
    const params = { id: yield* idOf(operator, account), endpoint_id: endpoint, delivery_id: delivery }
    const found = yield* operator.webhooks.getWebhookDelivery({ params })
    yield* Output.show(found, JSON.stringify(found.payload, null, 2))
  })
)

const resendFailed = operatorCommand(
  "resend-failed",
  "Send the failed deliveries of the last hours again, oldest first",
  {
    account,
    endpoint,
    hours: intBetween("hours", "Events of the last hours", { minimum: 1, maximum: 24 * 365, usual: 24 })
  },
  Effect.fnUntraced(function*(operator, { account, endpoint, hours }) {
    const params = { id: yield* idOf(operator, account), endpoint_id: endpoint }
    const since = DateTime.subtract(yield* DateTime.now, { hours })
    const result = yield* operator.webhooks.resendFailedDeliveries({ params, payload: { since } })
    const left = result.left === 0 ? "" : ` ${result.left} are left; repeat the command when those have ended.`
    yield* Output.show(result, `Deliveries that are sent again: ${result.resent}.${left}`)
  })
)

const resend = operatorCommand(
  "resend",
  "Send a delivery again",
  { account, delivery },
  Effect.fnUntraced(function*(operator, { account, delivery }) {
    const params = { id: yield* idOf(operator, account), delivery_id: delivery }
    const resent = yield* operator.webhooks.resendWebhookDelivery({ params })
    yield* Output.show(resent, `${resent.id} is ${resent.status}.`)
  })
)

/** Manages webhook endpoints. */
export const webhookCommand = Command.make("webhook").pipe(
  Command.withDescription("Manage webhook endpoints, and see what was sent"),
  Command.withSubcommands([
    create,
    list,
    setStatus("enable", "Send events to an endpoint"),
    setStatus("disable", "Drop events for an endpoint; due deliveries fail"),
    remove,
    rotate,
    test,
    sends,
    deliveries,
    payload,
    resend,
    resendFailed
  ])
)
