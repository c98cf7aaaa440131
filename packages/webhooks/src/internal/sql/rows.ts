/** Rows of the tables of webhooks and their domain values. */
import { Rows } from "@kinora/persistence"
import { Schema } from "effect"
import { type Claimed, type Delivery, DeliveryId, DeliveryStatus, Reason, type Send } from "../../Delivery.ts"
import { type Endpoint, EndpointId, EndpointStatus } from "../../Endpoint.ts"
import { EventId } from "../../Event.ts"
import type { DueList, EndpointRecord } from "../../WebhookStore.ts"

const endpointFields = {
  endpointId: Schema.String,
  account: Schema.String,
  url: Schema.String,
  types: Schema.NullOr(Schema.Array(Schema.String)),
  endpointStatus: EndpointStatus,
  endpointCreatedAt: Rows.timestamptz,
  secretCreatedAt: Rows.timestamptz
}

/** Columns of the table or subquery `endpoint`. */
export const endpointColumns = `
  endpoint.id AS "endpointId", endpoint.account, endpoint.url, endpoint.types, endpoint.status AS "endpointStatus",
  endpoint.created_at AS "endpointCreatedAt", endpoint.secret_created_at AS "secretCreatedAt"
`

const secretFields = {
  secrets: Schema.Array(Schema.Struct({
    sealed: Schema.String,
    createdAt: Schema.DateTimeUtcFromString,
    expiresAt: Schema.NullOr(Schema.DateTimeUtcFromString)
  }))
}

export const EndpointRow = Schema.Struct(endpointFields)

export const RecordRow = Schema.Struct({ ...endpointFields, ...secretFields })

/** The columns of a claimed row that decode even if the others are corrupt. */
export const ClaimRow = Schema.Struct({
  id: Schema.String,
  claims: Schema.Int,
  /** `null` if the event does not exist. */
  eventId: Schema.NullOr(Schema.String)
})

export const ClaimedRow = Schema.Struct({
  ...endpointFields,
  ...secretFields,
  id: Schema.String,
  dueAt: Rows.timestamptz,
  claims: Schema.Int,
  attempt: Schema.Int,
  failedSends: Schema.Int,
  body: Schema.NullOr(Rows.bytea),
  eventId: Schema.String,
  type: Schema.String,
  data: Schema.Json,
  eventCreatedAt: Rows.timestamptz
})

export const DeliveryRow = Schema.Struct({
  id: Schema.String,
  eventId: Schema.String,
  endpointId: Schema.String,
  type: Schema.String,
  subject: Schema.NullOr(Schema.String),
  status: DeliveryStatus,
  failedSends: Schema.Int,
  createdAt: Rows.timestamptz,
  dueAt: Schema.NullOr(Rows.timestamptz)
})

/** Columns of the tables `delivery` and `event`. */
export const deliveryColumns = `
  delivery.id, delivery.event_id AS "eventId", delivery.endpoint_id AS "endpointId", event.type, event.subject,
  delivery.status, delivery.failed_sends AS "failedSends", event.created_at AS "createdAt", delivery.due_at AS "dueAt"
`

/** Columns of the table `send`. */
export const sendColumns = `
  send.delivery_id AS delivery, send.type, send.attempt, send.at, send.duration_ms AS "durationMillis",
  send.http_status AS "httpStatus", send.reason
`

export const SendRow = Schema.Struct({
  delivery: Schema.String,
  type: Schema.String,
  attempt: Schema.Int,
  at: Rows.timestamptz,
  durationMillis: Schema.Number,
  httpStatus: Schema.NullOr(Schema.Int),
  reason: Reason
})

/** A due endpoint, or one row with the time at which the next delivery of the others is due. */
export const DueRow = Schema.Struct({
  endpointId: Schema.NullOr(Schema.String),
  account: Schema.NullOr(Schema.String),
  nextAt: Schema.NullOr(Rows.timestamptz)
})

export const IdRow = Schema.Struct({ id: Schema.String })

export const FailingRow = Schema.Struct({ account: Schema.String, id: Schema.String, since: Rows.timestamptz })

export const OwnerRow = Schema.Struct({ account: Schema.String, id: Schema.String })

export const toEndpoint = (row: typeof EndpointRow.Type): Endpoint => ({
  id: EndpointId.fromUuid(row.endpointId),
  account: row.account,
  url: row.url,
  types: row.types,
  status: row.endpointStatus,
  createdAt: row.endpointCreatedAt,
  secretCreatedAt: row.secretCreatedAt
})

export const toRecord = (row: typeof RecordRow.Type): EndpointRecord => ({
  endpoint: toEndpoint(row),
  secrets: row.secrets
})

export const toClaimed = (row: typeof ClaimedRow.Type): Claimed => ({
  delivery: DeliveryId.fromUuid(row.id),
  claims: row.claims,
  ...toRecord(row),
  event: {
    id: EventId.fromUuid(row.eventId),
    account: row.account,
    type: row.type,
    data: row.data,
    createdAt: row.eventCreatedAt
  },
  dueAt: row.dueAt,
  attempt: row.attempt,
  failedSends: row.failedSends,
  body: row.body
})

export const toDelivery = ({ endpointId, eventId, id, ...row }: typeof DeliveryRow.Type): Delivery => ({
  ...row,
  id: DeliveryId.fromUuid(id),
  event: EventId.fromUuid(eventId),
  endpoint: EndpointId.fromUuid(endpointId)
})

export const toSend = ({ delivery, ...row }: typeof SendRow.Type): Send => ({
  ...row,
  delivery: DeliveryId.fromUuid(delivery)
})

export const toDueList = (rows: ReadonlyArray<typeof DueRow.Type>): DueList => ({
  endpoints: rows.flatMap(({ account, endpointId }) =>
    account === null || endpointId === null ? [] : [{ endpoint: EndpointId.fromUuid(endpointId), account }]
  ),
  nextAt: rows.find(({ nextAt }) => nextAt !== null)?.nextAt ?? null
})
