/** The tables of webhooks. */
import * as Migrations from "@kinora/persistence/Migrations"
import type { SqlClient } from "effect/sql"

/** Creates the tables of endpoints, secrets, events, deliveries and sends. */
export const endpointsAndDeliveries = Migrations.statements((sql) => [
  ...createEndpoint(sql),
  ...createSecret(sql),
  createEvent(sql),
  ...createDelivery(sql),
  ...createSend(sql)
])

/** The subjects of events. Events of earlier builds have none. */
export const subjects = Migrations.statements((sql) => [
  sql`ALTER TABLE webhooks_event ADD COLUMN subject text COLLATE "C"`
])

/**
 * The endpoints whose sends fail, with the time of the first failure. Apart from the endpoints and without a foreign key, so that
 * a settlement does not wait for a transaction that changes the endpoint.
 */
export const failing = Migrations.statements((sql) => [
  sql`CREATE TABLE webhooks_failing (endpoint_id uuid PRIMARY KEY, since timestamptz NOT NULL)`
])

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A removed endpoint stays, without its secrets, until its deliveries and its log are deleted. */
const createEndpoint = (sql: SqlClient.SqlClient) => [
  sql`
    CREATE TABLE webhooks_endpoint (
      id uuid PRIMARY KEY,
      account text COLLATE "C" NOT NULL CHECK (length(account) <= 256),
      url text NOT NULL,
      types text[] CHECK (cardinality(types) > 0),
      status text NOT NULL CHECK (status IN ('enabled', 'disabled')),
      created_at timestamptz NOT NULL,
      secret_created_at timestamptz NOT NULL,
      is_removed boolean NOT NULL
    )
  `,
  sql`CREATE INDEX webhooks_endpoint_of_account ON webhooks_endpoint (account) WHERE NOT is_removed`,
  sql`CREATE INDEX webhooks_endpoint_removed ON webhooks_endpoint (id) WHERE is_removed`
]

/** Place 0 is the newest secret. The others are older and sign beside it until they expire. */
const createSecret = (sql: SqlClient.SqlClient) => [
  sql`
    CREATE TABLE webhooks_secret (
      endpoint_id uuid NOT NULL REFERENCES webhooks_endpoint (id),
      place int4 NOT NULL CHECK (place >= 0),
      sealed text COLLATE "C" NOT NULL CONSTRAINT webhooks_secret_is_sealed CHECK (sealed NOT LIKE 'whsec%'),
      created_at timestamptz NOT NULL,
      expires_at timestamptz,
      PRIMARY KEY (endpoint_id, place),
      CONSTRAINT webhooks_secret_has_an_end_unless_newest CHECK ((place = 0) = (expires_at IS NULL))
    )
  `,
  sql`CREATE INDEX webhooks_secret_sealed ON webhooks_secret (sealed)`,
  sql`CREATE INDEX webhooks_secret_expires_at ON webhooks_secret (expires_at) WHERE expires_at IS NOT NULL`
]

/**
 * `data` is json, not jsonb, so that bodies keep the order of fields. `bytes` is stored, so that a
 * claim does not read the data of events that it does not take.
 */
const createEvent = (sql: SqlClient.SqlClient) =>
  sql`
    CREATE TABLE webhooks_event (
      id uuid PRIMARY KEY,
      account text COLLATE "C" NOT NULL CHECK (length(account) <= 256),
      type text NOT NULL CHECK (type ~ '^[a-z0-9_.]{1,64}$'),
      data json NOT NULL,
      bytes int4 NOT NULL GENERATED ALWAYS AS (octet_length(data::text)) STORED,
      created_at timestamptz NOT NULL
    )
  `

/**
 * Without foreign keys, because each would read and lock an endpoint and an event per row. If an
 * endpoint is removed while a delivery for it is published, the delivery is never claimed, and it
 * is deleted by its age.
 */
const createDelivery = (sql: SqlClient.SqlClient) => [
  sql`
    CREATE TABLE webhooks_delivery (
      id uuid PRIMARY KEY,
      event_id uuid NOT NULL,
      endpoint_id uuid NOT NULL,
      status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
      due_at timestamptz,
      begun_at timestamptz NOT NULL,
      claims int4 NOT NULL DEFAULT 0,
      claims_void int4 NOT NULL DEFAULT 0 CHECK (claims_void BETWEEN 0 AND claims),
      is_claimed boolean NOT NULL DEFAULT false,
      failed_sends int4 NOT NULL DEFAULT 0 CHECK (failed_sends >= 0),
      body bytea,
      CONSTRAINT webhooks_delivery_is_due_while_pending CHECK ((status = 'pending') = (due_at IS NOT NULL)),
      CONSTRAINT webhooks_delivery_is_over CHECK (status = 'pending' OR (NOT is_claimed AND body IS NULL))
    )
  `,
  // Partial, so that the cost of a claim does not depend on ended deliveries.
  sql`
    CREATE INDEX webhooks_delivery_due ON webhooks_delivery (endpoint_id, due_at, id) WHERE due_at IS NOT NULL
  `,
  // The same rows by another condition, so that only queries with this condition use the index. If the table
  // was analysed while nothing was pending, the planner would otherwise choose it for claims and read every
  // backlog for each endpoint.
  sql`CREATE INDEX webhooks_delivery_pending ON webhooks_delivery (begun_at) WHERE status = 'pending'`,
  sql`CREATE INDEX webhooks_delivery_ended ON webhooks_delivery (begun_at) WHERE due_at IS NULL`,
  sql`CREATE INDEX webhooks_delivery_of_endpoint ON webhooks_delivery (endpoint_id, id)`,
  sql`CREATE INDEX webhooks_delivery_of_event ON webhooks_delivery (event_id)`
]

/** One line per claim, so that a repeated settlement adds no line. */
const createSend = (sql: SqlClient.SqlClient) => [
  sql`
    CREATE TABLE webhooks_send (
      delivery_id uuid NOT NULL,
      claims int4 NOT NULL,
      endpoint_id uuid NOT NULL,
      type text NOT NULL,
      attempt int4 NOT NULL CHECK (attempt >= 1),
      at timestamptz NOT NULL,
      duration_ms float8 NOT NULL CHECK (duration_ms >= 0),
      http_status int4,
      reason text NOT NULL,
      PRIMARY KEY (delivery_id, claims)
    )
  `,
  sql`CREATE INDEX webhooks_send_of_endpoint ON webhooks_send (endpoint_id, at, delivery_id, claims)`
]
