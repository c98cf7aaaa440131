/** The tables of webhooks. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Endpoints, their secrets, events, deliveries and the log of sends. */
export const endpointsAndDeliveries = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  // A removed endpoint stays, without its secrets, until its deliveries and its log are gone.
  yield* sql`
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
  `
  yield* sql`CREATE INDEX webhooks_endpoint_of_account ON webhooks_endpoint (account) WHERE NOT is_removed`
  yield* sql`CREATE INDEX webhooks_endpoint_removed ON webhooks_endpoint (id) WHERE is_removed`

  // Place 0 signs; those after it are older, and sign beside it until their end.
  yield* sql`
    CREATE TABLE webhooks_secret (
      endpoint_id uuid NOT NULL REFERENCES webhooks_endpoint (id),
      place int4 NOT NULL CHECK (place >= 0),
      sealed text COLLATE "C" NOT NULL CONSTRAINT webhooks_secret_is_sealed CHECK (sealed NOT LIKE 'whsec%'),
      created_at timestamptz NOT NULL,
      expires_at timestamptz,
      PRIMARY KEY (endpoint_id, place),
      CONSTRAINT webhooks_secret_has_an_end_unless_newest CHECK ((place = 0) = (expires_at IS NULL))
    )
  `
  yield* sql`CREATE INDEX webhooks_secret_sealed ON webhooks_secret (sealed)`
  yield* sql`CREATE INDEX webhooks_secret_expires_at ON webhooks_secret (expires_at) WHERE expires_at IS NOT NULL`

  // json, not jsonb: what was published is what is sent, to the order of its fields. Its
  // size is beside it, so that a claim knows it without reading what it does not take.
  yield* sql`
    CREATE TABLE webhooks_event (
      id uuid PRIMARY KEY,
      account text COLLATE "C" NOT NULL CHECK (length(account) <= 256),
      type text NOT NULL CHECK (type ~ '^[a-z0-9_.]{1,64}$'),
      data json NOT NULL,
      bytes int4 NOT NULL GENERATED ALWAYS AS (octet_length(data::text)) STORED,
      created_at timestamptz NOT NULL
    )
  `

  // No foreign keys here: each would look at an endpoint and an event for every row, and
  // lock them. A delivery that is published in the moment in which its endpoint goes is
  // never claimed, and goes by its age.
  yield* sql`
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
  `
  // Partial, so that what is kept for a week costs a claim nothing.
  yield* sql`
    CREATE INDEX webhooks_delivery_due ON webhooks_delivery (endpoint_id, due_at, id) WHERE due_at IS NOT NULL
  `
  // Of the same rows in other words, so that only what asks in these words uses it. The
  // planner, who may have last seen the table with nothing pending, would take it for
  // claims too, and read every backlog for each endpoint.
  yield* sql`CREATE INDEX webhooks_delivery_pending ON webhooks_delivery (begun_at) WHERE status = 'pending'`
  yield* sql`CREATE INDEX webhooks_delivery_ended ON webhooks_delivery (begun_at) WHERE due_at IS NULL`
  yield* sql`CREATE INDEX webhooks_delivery_of_endpoint ON webhooks_delivery (endpoint_id, id)`
  yield* sql`CREATE INDEX webhooks_delivery_of_event ON webhooks_delivery (event_id)`

  // A line per claim that was used, so that the same outcome told twice is one line.
  yield* sql`
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
  `
  yield* sql`CREATE INDEX webhooks_send_of_endpoint ON webhooks_send (endpoint_id, at, delivery_id, claims)`
})
