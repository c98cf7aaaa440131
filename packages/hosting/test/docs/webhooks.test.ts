/** Compares the tables of `docs/reference/webhooks.md` with the event types, headers, pauses and reasons of the code. */
import { it } from "@effect/vitest"
import { OpenApiDocument, Webhook } from "@kinora/http-api"
import { Delivery, Retry } from "@kinora/webhooks"
import { Duration, Schema } from "effect"
import { code, expectTables, rowsOf, type Table } from "./Page.ts"

/** The part of the OpenAPI document that the tables use. */
const { webhooks } = Schema.decodeUnknownSync(Schema.Struct({
  webhooks: Schema.Record(
    Schema.String,
    Schema.Struct({
      post: Schema.Struct({
        parameters: Schema.Array(Schema.Struct({
          name: Schema.String,
          schema: Schema.Struct({ const: Schema.optionalKey(Schema.String) })
        })),
        requestBody: Schema.Struct({ content: Schema.Record(Schema.String, Schema.Any) })
      })
    })
  )
}))(OpenApiDocument.document)

const events: Table = {
  head: ["type", "sent when"],
  rows: rowsOf(Object.keys(webhooks), {
    "generation.started": "a worker starts the job",
    "generation.completed": "the job finished and its result can be downloaded",
    "generation.failed": "the job failed and was refunded",
    "webhook.test": "an operator requested a test of the endpoint; `data` is `{}`"
  })
}

const { data, ...fields } = Webhook.WebhookEvent.fields

const body: Table = {
  head: ["field", "type", "meaning"],
  rows: rowsOf([...Object.keys(fields), ...Object.keys(data.fields).map((name) => `data.${name}`)], {
    "id": ["string", "id of the delivery (`dlv_…`): one event for one endpoint. It is the same in every send"],
    "type": ["string", "see [events](#events)"],
    "created_at": ["time", "when the event happened"],
    "data.generation": ["object", "the [job](http-api.md#the-job-object) as it was when the event happened"]
  })
}

const { parameters, requestBody } = webhooks["generation.completed"]!.post
const constantOf = (header: string) => parameters.find(({ name }) => name === header)?.schema.const ?? ""

const headers: Table = {
  head: ["header", "value"],
  rows: rowsOf(["Content-Type", ...parameters.map(({ name }) => name)], {
    "Content-Type": Object.keys(requestBody.content).map(code).join(", "),
    "User-Agent": code(constantOf("User-Agent")),
    "X-Service-Event": "the event type",
    "X-Service-Delivery": "the delivery id, equal to `id`",
    "X-Service-Signature": "`t=<unix seconds>,v1=<hex>`"
  })
}

const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth"]

const sends: Table = {
  head: ["send", "time"],
  rows: [
    [ordinals[0]!, "at once"],
    ...Retry.defaultSchedule.map((pause, index) => [
      ordinals[index + 1]!,
      `${Duration.toSeconds(pause)} seconds after the end of the ${ordinals[index]}${index === 0 ? " failed send" : ""}`
    ])
  ]
}

const [literals] = Delivery.Reason.members
const [ok, ...failures] = literals.literals

const reasons: Table = {
  head: ["reason", "meaning"],
  rows: rowsOf([ok, "status_<code>", ...failures], {
    "ok": "2xx",
    "status_<code>": "another status",
    "timeout": "no response within 10 seconds",
    "dns": "the host name has no address, or the lookup failed",
    "connect": "no connection, or it broke before a response",
    "tls": "the certificate is expired, self-signed, for another name, or its chain is incomplete",
    "blocked_address": "the host resolves to an address that is not public, or to the service itself; nothing was sent",
    "redirect": "3xx",
    "protocol": "the response is not HTTP, or breaks off within its head",
    "disabled": "the endpoint was disabled when the delivery was due; nothing was sent"
  })
}

it.effect("docs/reference/webhooks.md lists event types, fields, headers, sends and reasons", () =>
  expectTables("reference/webhooks.md", { events, body, headers, sends, reasons }))
