import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as MemorySessionStore from "../src/MemorySessionStore.ts"
import * as Sessions from "../src/Sessions.ts"
import * as CodesContract from "./CodesContract.ts"
import { browser, memberOf } from "./Hosts.ts"
import * as MembersContract from "./MembersContract.ts"
import * as SessionsContract from "./SessionsContract.ts"

const memory = MemorySessionStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

SessionsContract.suite("memory", memory)
CodesContract.suite("memory", memory)
MembersContract.suite("memory", memory)

it.effect("layerSweep deletes what has ended", () =>
  Effect.gen(function*() {
    const sessions = yield* Sessions.Sessions
    yield* sessions.start(memberOf("swept"), browser)
    yield* Layer.build(Sessions.layerSweep())
    yield* TestClock.adjust("13 hours")
    assert.strictEqual(yield* sessions.deleteEnded(10), 0)
  }).pipe(Effect.scoped, Effect.provide(Sessions.layerMemory)))
