/** The table of payments. */
import * as Migrations from "@kinora/persistence/Migrations"

/** Creates the table of payments. */
export const paymentsTable = Migrations.statements((sql) => [
  sql`
    CREATE TABLE payments_payment (
      id uuid PRIMARY KEY,
      account text COLLATE "C" NOT NULL CHECK (length(account) BETWEEN 1 AND 256),
      cents bigint NOT NULL CHECK (cents > 0),
      provider text NOT NULL,
      provider_reference text,
      status text NOT NULL CHECK (status IN ('open', 'paid', 'expired', 'failed')),
      is_credited boolean NOT NULL DEFAULT false CHECK (NOT is_credited OR status = 'paid'),
      created_at timestamptz NOT NULL,
      expires_at timestamptz,
      settled_at timestamptz,
      due_at timestamptz NOT NULL,
      looks int4 NOT NULL DEFAULT 0,
      CHECK ((status = 'open') = (settled_at IS NULL))
    )
  `,
  sql`CREATE INDEX payments_payment_of_account ON payments_payment (account, id)`,
  // A checkout settles one payment.
  sql`
    CREATE UNIQUE INDEX payments_payment_reference ON payments_payment (provider, provider_reference)
  `,
  sql`CREATE INDEX payments_payment_due ON payments_payment (due_at) WHERE status = 'open'`,
  sql`CREATE INDEX payments_payment_settled ON payments_payment (settled_at) WHERE status <> 'open'`
])
