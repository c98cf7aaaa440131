import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { BlobStore } from "@kinora/storage"
import { Effect, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ResponseWriter } from "../src/ResponseWriter.ts"
import * as Host from "./Host.ts"

/** Reads one byte per second. */
const readSlowly = (blobs: BlobStore.BlobStore["Service"]) =>
  BlobStore.BlobStore.of({
    ...blobs,
    get: (key, range) =>
      blobs.get(key, range).pipe(
        Stream.flatMap((chunk) => Stream.fromIterable(Array.from(chunk, (byte) => Uint8Array.of(byte)))),
        Stream.rechunk(1),
        Stream.schedule(Schedule.spaced("1 second"))
      )
  })

/** A connection whose client takes all bytes at once. */
const makeConnection = () => {
  const state = { sent: 0, isAborted: false }
  const take = (bytes: Uint8Array) => {
    state.sent += bytes.length
    return undefined
  }
  const abort = () => {
    state.isAborted = true
  }
  return { state, connection: { head: () => {}, write: take, end: take, abort } }
}

it.effect("ends a download of a suspended account within 5 seconds, also if the storage is slower than the client", () =>
  Effect.gen(function*() {
    const { connection, state } = makeConnection()
    const send = yield* Host.start({ baseUrl: "https://api.example.com" }).pipe(
      Effect.updateService(BlobStore.BlobStore, readSlowly),
      Effect.provideService(ResponseWriter, () => connection)
    )
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(60))
    yield* Effect.forkChild(Effect.exit(send("GET", `/v1/generations/${id}/content`, { key })))
    yield* TestClock.adjust("10 seconds")
    assert.isAbove(state.sent, 5)
    yield* Accounts.Accounts.use((accounts) => accounts.suspend(account.id))
    yield* TestClock.adjust("5 seconds")
    assert.isTrue(state.isAborted)
    const { sent } = state
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual(state.sent, sent)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
