/** Keys belong to the transaction of their caller, whoever opened it. */
import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { transactions } from "@kinora/persistence/testing"
import { Effect, Exit, Layer, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { ApiKeyStore } from "../src/ApiKeyStore.ts"
import { isKnown, makeHost, makeKey, makeOwner } from "../src/internal/contract/hosts.ts"

/** Every fourth caller rolls back. */
const isRolledBack = (n: number) => n % 4 === 0

type Backend = ApiKeyStore | UnitOfWork.UnitOfWork | SqlClient.SqlClient

/** The behaviour of calls inside transactions of their callers. */
export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>, callersCount: number) => {
  const callers = Array.from({ length: callersCount }, (_, n) => n)
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(
    `API keys in transactions of their callers (${name})`,
    (it) => {
      for (const [way, transaction] of Object.entries(transactions)) {
        it.effect(`commits or rolls back each key with the row of its caller in ${way}`, () =>
          Effect.gen(function*() {
            const host = yield* makeHost()
            const inTransaction = yield* transaction
            const sql = yield* SqlClient.SqlClient
            yield* createRequests
            const owner = makeOwner()
            const keys = new Map<number, Redacted.Redacted>()
            const exits = yield* Effect.forEach(callers, (n) =>
              Effect.gen(function*() {
                const created = yield* makeKey(host)
                yield* sql`INSERT INTO request (owner, id) VALUES (${owner}, ${created.owner})`
                // The transaction finds its own key, and no key of a neighbour that rolls back.
                assert.isTrue(yield* isKnown(host, created.key))
                const others = [...keys].filter(([other]) => isRolledBack(other)).slice(-1)
                for (const [, other] of others) assert.isFalse(yield* isKnown(host, other))
                keys.set(n, created.key)
                if (isRolledBack(n)) return yield* Effect.die("rolled back")
              }).pipe(inTransaction, Effect.exit), { concurrency: "unbounded" })

            assert.deepStrictEqual(exits.map(Exit.isSuccess), callers.map((n) => !isRolledBack(n)))
            const known = yield* Effect.forEach(callers, (n) => isKnown(host, keys.get(n)!), {
              concurrency: "unbounded"
            })
            assert.deepStrictEqual(known, callers.map((n) => !isRolledBack(n)))
            assert.deepStrictEqual(yield* countInconsistent(owner), [{ count: callersCount * 3 / 4, inconsistent: 0 }])
          }).pipe(Effect.scoped))
      }
    }
  )
}

const createRequests = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE IF NOT EXISTS request (owner text, id text, PRIMARY KEY (owner, id))`
)

/** Counts committed requests, and those without a key. */
const countInconsistent = (owner: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`
      SELECT count(*)::int AS count, count(*) FILTER (WHERE found.id IS NULL)::int AS inconsistent
      FROM request LEFT JOIN api_keys_key AS found ON found.owner = request.id
      WHERE request.owner = ${owner}
    `)
