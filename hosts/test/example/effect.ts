import { assert, it } from "@effect/vitest"
import { TestHost } from "@kinora/host-test"
import { Ledger } from "@kinora/ledger"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"

it.effect("refunds a job that exceeds its time limit", () =>
  Effect.gen(function*() {
    const kinora = yield* TestHost.TestHost
    yield* kinora.generator.hold
    const id = yield* Effect.promise(async () => {
      const response = await kinora.fetch("/v1/generations", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } })
      })
      const { id } = await response.json() as { readonly id: string }
      return id
    })

    yield* TestClock.adjust("5 minutes")
    assert.strictEqual(yield* kinora.settled(id), "failed")

    const ledger = yield* Ledger.Ledger
    const { credits } = yield* ledger.balances(kinora.account.id, yield* DateTime.now)
    assert.strictEqual(credits, 1_000)
  }).pipe(Effect.provide(TestHost.layer())))
