/** Deletion of accounts, and what is left of them. */
import { assert, layer } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Accounts } from "@kinora/accounts/Accounts"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger/Ledger"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Members } from "@kinora/sessions/Members"
import { Sessions } from "@kinora/sessions/Sessions"
import { BlobStore } from "@kinora/storage"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { DateTime, Effect, Exit, type Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as AccountDeletion from "../src/AccountDeletion.ts"
import { Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import { type layerMemory, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

/** Opens an account with credits, a webhook endpoint and a completed job. */
const open = Effect.gen(function*() {
  const accounts = yield* Accounts
  const control = yield* ScriptedGenerator.Control
  const { create, wait } = yield* Generations
  const { grant } = yield* Ledger
  const webhooks = yield* Webhooks
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const account = yield* accounts.create({ email: `${name}@example.com` })
  const at = yield* DateTime.now
  const expiresAt = DateTime.add(at, { days: 300 })
  yield* grant({ account: account.id, reference: "start", kind: "addon", credits: 100, expiresAt, at })
  yield* webhooks.create(account.id, { url: "https://example.com/hooks" })
  const { generation: done } = yield* create(yield* request(account, { key: "done" }))
  yield* control.succeed(done.id)
  yield* Effect.scoped(Effect.andThen(startWorker(), wait(account.id, done.id, "60 seconds")))
  return { account, done: done.id }
})

/** Creates a job that no worker runs. */
const createWaiting = Effect.fnUntraced(function*(account: Parameters<typeof request>[0]) {
  const { create } = yield* Generations
  const { generation } = yield* create(yield* request(account, { key: "waiting" }))
  return generation.id
})

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Deleted accounts (${name})`, (it) => {
    it.effect("lose their webhook endpoints at once, and their jobs, files and address after the grace period", () =>
      Effect.gen(function*() {
        const accounts = yield* Accounts
        const blobs = yield* BlobStore.BlobStore
        const deletion = yield* AccountDeletion.AccountDeletion
        const ledger = yield* Ledger
        const store = yield* GenerationStore
        const sweep = yield* GenerationSweep
        const webhooks = yield* Webhooks
        const other = yield* open
        const { account, done } = yield* open
        const { id } = account
        const [waiting, othersWaiting] = [yield* createWaiting(account), yield* createWaiting(other.account)]
        const [generation] = yield* store.find([done])
        const file = generation?.output?.content.key ?? ""

        const members = yield* Members
        const sessions = yield* Sessions
        const grant = { scope: "account", account: id, role: "member", member: null } as const
        yield* members.add({
          account: id,
          issuer: "https://id.example",
          subject: "1",
          email: "a@b.example",
          role: "viewer"
        })
        yield* sessions.start(grant, { device: Option.none(), address: "192.0.2.1" })

        assert.strictEqual((yield* deletion.delete(id)).status, "deleted")
        assert.strictEqual((yield* deletion.delete(id)).status, "deleted")
        assert.deepStrictEqual([...yield* members.list(id), ...yield* sessions.list(grant)], [])
        assert.deepStrictEqual(yield* webhooks.list(id), [])
        assert.strictEqual((yield* store.find([done, waiting])).length, 2)
        assert.strictEqual(yield* deletion.erase("2 days", 100), 0)

        yield* TestClock.adjust("49 hours")
        // The job that never started is refunded, and the files are deleted, before the account is erased.
        yield* sweep.dropStale(100)
        assert.strictEqual(yield* deletion.erase("2 days", 100), 0)
        assert.deepStrictEqual((yield* store.find([done, waiting])).map(({ id }) => id), [done])
        yield* sweep.expireResults(100)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(blobs.head(file))))
        assert.strictEqual(yield* deletion.erase("2 days", 100), 1)
        assert.strictEqual(yield* deletion.erase("2 days", 100), 0)
        assert.deepStrictEqual(yield* store.find([done, waiting]), [])
        assert.strictEqual((yield* accounts.get(id)).status, "erased")

        // The books stay, and other accounts are not concerned.
        const { discrepancies, totals } = yield* ledger.verify({ account: id })
        assert.deepStrictEqual(discrepancies, [])
        assert.deepInclude(totals, { granted: 100, consumed: 8 })
        assert.strictEqual((yield* accounts.get(other.account.id)).status, "active")
        assert.strictEqual((yield* webhooks.list(other.account.id)).length, 1)
        assert.strictEqual((yield* store.find([other.done, othersWaiting])).length, 2)
      }))

    it.effect("keep everything if the deletion fails before its end", () =>
      Effect.gen(function*() {
        const accounts = yield* Accounts
        const webhooks = yield* Webhooks
        const { account: { id } } = yield* open
        const dying = yield* AccountDeletion.AccountDeletion.pipe(
          Effect.provide(AccountDeletion.layerWith({ planTable: PlanTable.defaults })),
          Effect.provideService(Webhooks, { ...webhooks, list: () => Effect.die(new Error("The process dies")) })
        )
        assert.isTrue(Exit.isFailure(yield* Effect.exit(dying.delete(id))))
        assert.strictEqual((yield* accounts.get(id)).status, "active")
        assert.strictEqual((yield* webhooks.list(id)).length, 1)
      }))

    it.effect("cannot be erased before their uploads and idempotency keys have expired", () =>
      Effect.gen(function*() {
        const { erase } = yield* AccountDeletion.AccountDeletion
        assert.isTrue(Exit.isFailure(yield* Effect.exit(erase("47 hours", 100))))
      }))
  })
}
