import { assert, it } from "@effect/vitest"
import { Readiness } from "@kinora/http-server"
import { BlobStore } from "@kinora/storage"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Http from "../src/Http.ts"

it.effect("is not ready after two seconds when the file storage hangs", () =>
  Effect.gen(function*() {
    const { notReady } = yield* Readiness.Readiness
    const sql = yield* SqlClient.SqlClient
    const checking = yield* Effect.forkChild(notReady, { startImmediately: true })
    // The embedded database has one session, so it has responded to the check before.
    yield* sql`SELECT 1`
    yield* TestClock.adjust("1999 millis")
    assert.isUndefined(checking.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(yield* Fiber.join(checking), ["storage"])
  }).pipe(
    Effect.provide(Http.layerReadiness.pipe(Layer.provideMerge(Layer.merge(
      // A call of the file system cannot be interrupted.
      Layer.mock(BlobStore.BlobStore)({ head: () => Effect.uninterruptible(Effect.never) }),
      TestDatabase.pglite
    ))))
  ))
